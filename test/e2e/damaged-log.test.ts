import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { expect } from "chai";
import { readPage, root } from "../docs/pages.ts";
import { withTemporaryFolder } from "../support/child-process.ts";
import { admin, registerWebsite } from "../support/client.ts";
import { startInstance } from "../support/instance.ts";

const run = promisify(execFile);

/** The blocks of commands of a step of the page. */
const commandsOf = (step: number): string[] => {
  const [, text = ""] =
    new RegExp(`^## ${step}\\. .*\\n([^]*?)(?=^## |$(?![^]))`, "m").exec(
      readPage("docs/operate/damaged-log.md"),
    ) ?? [];
  return [...text.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replaceAll(/^ {4}/gm, ""));
};

const pageSize = 4_096;
/** Types of pages in SQLite's file format. */
const leafOf = { table: 0x0d, index: 0x0a } as const;

/** Overwrites the first leaf of this type that contains the text. */
const breakPage = async (file: string, type: keyof typeof leafOf, text: string): Promise<void> => {
  const bytes = await readFile(file);
  const pages = Array.from({ length: bytes.length / pageSize }, (_, index) =>
    bytes.subarray(index * pageSize, (index + 1) * pageSize),
  );
  const page = pages.find((one) => one[0] === leafOf[type] && one.includes(text));
  expect(page, `a ${type} page with ${text}`).to.not.equal(undefined);
  page?.fill(0xff);
  await writeFile(file, bytes);
};

interface Damaged {
  readonly folder: string;
  readonly file: string;
  /** Runs a command of the page in the folder of the installation. */
  type(commands: string): Promise<{ readonly code: number; readonly text: string }>;
  /** Returns the id of a website by its name, which the log has only encrypted. */
  readonly websiteOf: (name: string) => string;
  /** Returns the id of the event that created a website, by the website's id. */
  readonly idOf: (websiteId: string) => string;
}

const names = (part: string): string[] =>
  Array.from({ length: 40 }, (_, index) => `${part}-${index}.example`);

/** Registers the websites of one part, and adds their ids, by name. */
const register = async (url: string, part: string, ids: Map<string, string>): Promise<void> => {
  for (const name of names(part)) {
    const { body } = await admin(url, "POST", "/websites", { name });
    ids.set(name, body.id as string);
  }
};

/** The folder of an installation, in which the page's commands run. */
const openFolder = async (folder: string) => {
  const data = join(folder, "data");
  await symlink(join(root, "scripts"), join(folder, "scripts"));
  const type: Damaged["type"] = (commands) =>
    run("bash", ["--norc", "-euc", commands], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATA_DIR: data },
    }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stdout, stderr }) => ({ code, text: `${stdout}${stderr}` }),
    );
  return { data, file: join(data, "events.db"), type };
};

/** A sealed log whose first half is in a backup, with a broken page. */
const withDamagedLog = (
  breakLog: (log: Pick<Damaged, "file" | "idOf" | "websiteOf">) => Promise<void>,
  test: (log: Damaged) => Promise<void>,
): Promise<void> =>
  withTemporaryFolder(async (folder) => {
    const { data, file, type } = await openFolder(folder);
    const service = await startInstance(data);
    const ids = new Map<string, string>();
    await register(service.url, "early", ids);
    expect(await type("scripts/voxledger audit export early.ndjson")).to.include({ code: 0 });
    expect(await type("sqlite3 data/events.db '.backup backup.db'")).to.include({ code: 0 });
    await register(service.url, "late", ids);
    expect(await type("scripts/voxledger audit export late.ndjson")).to.include({ code: 0 });
    expect(await service.stop()).to.equal(0);
    const websiteOf = (name: string): string => ids.get(name) ?? "";
    const log = { folder, file, type, websiteOf, idOf: idsIn(file) };
    await breakLog(log);
    expect(await type("scripts/voxledger audit verify")).to.include({ code: 1 });
    for (const commands of commandsOf(1)) expect(await type(commands)).to.include({ code: 0 });
    await test(log);
  });

const idsIn = (file: string): Damaged["idOf"] => {
  using db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare("SELECT id, body FROM events").all() as { id: string; body: string }[];
  return (websiteId) => rows.find(({ body }) => body.includes(`"${websiteId}"`))?.id ?? "";
};

/** Puts the rebuilt log in place, starts the service and returns the names of its websites. */
const startOnRebuilt = async ({ folder, type }: Damaged): Promise<unknown[]> => {
  for (const commands of commandsOf(4)) expect(await type(commands)).to.include({ code: 0 });
  const service = await startInstance(join(folder, "data"));
  try {
    const { body } = await admin(service.url, "GET", "/websites?limit=1000");
    await registerWebsite(service.url);
    return (body.websites as { name: string }[]).map(({ name }) => name);
  } finally {
    await service.stop();
  }
};

describe("a damaged log", () => {
  it("loses nothing if a page of an index is broken", () =>
    withDamagedLog(
      ({ file, idOf, websiteOf }) => breakPage(file, "index", idOf(websiteOf("early-7.example"))),
      async (log) => {
        const [rebuild = ""] = commandsOf(2);
        const { code, text } = await log.type(rebuild);
        expect(code, text).to.equal(0);
        expect(text).to.match(/^genuine: /);
        expect(await startOnRebuilt(log)).to.include.members([...names("early"), ...names("late")]);
      },
    ));

  it("loses nothing if the broken page has events that a backup has", () =>
    withDamagedLog(
      ({ file, websiteOf }) => breakPage(file, "table", `"${websiteOf("early-7.example")}"`),
      async (log) => {
        const [rebuild = ""] = commandsOf(2);
        expect((await log.type(rebuild)).code).to.equal(1);
        const [join = ""] = commandsOf(3);
        const { code, text } = await log.type(join);
        expect(code, text).to.equal(0);
        expect(text).to.match(/^genuine: /);
        expect(await startOnRebuilt(log)).to.include.members([...names("early"), ...names("late")]);
      },
    ));

  it("ends before a broken page of the write-ahead log, which no command notices", () =>
    withTemporaryFolder(async (folder) => {
      const { data, file, type } = await openFolder(folder);
      const service = await startInstance(data);
      expect(await type("scripts/voxledger audit export early.ndjson")).to.include({ code: 0 });
      const ids = new Map<string, string>();
      await register(service.url, "late", ids);
      const websiteOf = (name: string): string => ids.get(name) ?? "";
      const website = idsIn(file)(websiteOf("late-20.example"));
      await service.kill(); // a process that ends by itself empties the write-ahead log
      const log = await readFile(`${file}-wal`);
      log.fill(0xff, log.indexOf(website), log.indexOf(website) + 4);
      await writeFile(`${file}-wal`, log);
      for (const commands of commandsOf(1)) expect(await type(commands)).to.include({ code: 0 });
      const [rebuild = "", showEnd = ""] = commandsOf(2);
      expect((await type(rebuild)).text).to.match(/^genuine: /);
      expect((await type(showEnd)).text).to.match(/^\d+\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/);
      const kept = idsIn(join(folder, "rebuilt.db"));
      expect(kept(websiteOf("late-0.example"))).to.not.equal("");
      expect(kept(websiteOf("late-39.example"))).to.equal("");
    }));

  it("ends before the broken page if that is later than the backup", () =>
    withDamagedLog(
      ({ file, websiteOf }) => breakPage(file, "table", `"${websiteOf("late-20.example")}"`),
      async (log) => {
        const [join = "", findLast = ""] = commandsOf(3);
        expect((await log.type(join)).text).to.include("database disk image is malformed");
        const backup = (await log.type(findLast)).text.split("\n")[0] ?? "";
        const [, last = ""] = (await log.type(findLast.replace("BACKUP", backup))).text.trim().split("\n");
        expect(Number(last)).to.be.greaterThan(Number(backup));
        const bounded = join.replace(/;(\s*COMMIT)/, ` AND position < ${last};$1`);
        const { code, text } = await log.type(bounded);
        expect(code, text).to.equal(0);
        expect(text).to.match(/^genuine: /);
        const found = await startOnRebuilt(log);
        expect(found).to.include.members([...names("early"), "late-0.example"]);
        expect(found).to.not.include("late-39.example");
      },
    ));
});
