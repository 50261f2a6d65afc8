import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import { createBundleLoader } from "../../../src/http/bundles/bundles.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const never = new AbortController().signal;

describe("the bundles of the pages' scripts", () => {
  let folder: string;
  let source: string;
  let fromRoot: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-bundles-"));
    source = join(folder, "source.ts");
    fromRoot = relative(join(import.meta.dirname, "../../.."), source);
    await writeFile(source, "export {}");
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A program that bundles `script`, an expression, and depends on `source.ts`. */
  const write = (script: string) =>
    writeFile(
      join(folder, "program.mjs"),
      `import { hash } from "node:crypto";
      import { readFileSync } from "node:fs";
      const inputs = { ${JSON.stringify(fromRoot)}: hash("sha256", readFileSync(${JSON.stringify(source)})) };
      const client = { "/client.js": ${script} };
      process.stdout.write(JSON.stringify({ inputs, client, console: {}, reproduce: {} }));`,
    );
  const open = (options: Partial<Parameters<typeof createBundleLoader>[0]> = {}) =>
    createBundleLoader({
      warn: (sentence) => expect.fail(sentence),
      program: join(folder, "program.mjs"),
      keptFile: join(folder, "cache/kept.json"),
      ...options,
    });
  const scriptOf = async ({ bundles }: ReturnType<typeof createBundleLoader>): Promise<string> =>
    (await bundles()).client["/client.js"].body.toString();
  const load = async (options = {}): Promise<string> => {
    const loader = open(options);
    await loader.load(never);
    return await scriptOf(loader);
  };

  it("are made by a process without a variable in its environment", async () => {
    process.env.SECRET_OF_THIS_TEST = "secret";
    await write("JSON.stringify(process.env)");
    try {
      expect(await load()).to.equal("{}");
    } finally {
      delete process.env.SECRET_OF_THIS_TEST;
    }
  });

  it("are never made for a request, which waits until they are loaded", async () => {
    await write('"1"');
    const loader = open();
    let isServed = false;
    const served = scriptOf(loader).then((script) => {
      isServed = true;
      return script;
    });
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(isServed).to.equal(false);
    await loader.load(never);
    expect(await served).to.equal("1");
  });

  it("are made once for the same sources, whatever the number of starts", async () => {
    await write('"made once"');
    expect(await load()).to.equal("made once");
    await write('"made again"');
    expect(await load()).to.equal("made once");
  });

  it("are made again when a source changes, or the kept file is damaged", async () => {
    const kept = join(folder, "cache/kept.json");
    const cases: readonly (readonly [string, () => Promise<void>])[] = [
      ["changed", () => writeFile(source, "export { other }")],
      ["cut", async () => writeFile(kept, (await readFile(kept)).subarray(0, -9))],
      ["removed", () => rm(kept)],
      ["edited", async () => writeFile(kept, (await readFile(kept, "utf8")).replace("removed", "REMOVED"))],
      ["empty", () => writeFile(kept, "")],
    ];
    await write('"first"');
    expect(await load()).to.equal("first");
    for (const [name, change] of cases) {
      await change();
      await write(JSON.stringify(name));
      expect(await load(), name).to.equal(name);
    }
  });

  it("are made again when a source changes that an earlier start has read, but not when it is copied", async () => {
    await write('"first"');
    await load();
    expect(await load()).to.equal("first");
    expect(await readFile(join(folder, "cache/kept.json.inputs"), "utf8")).to.include(source);
    await rm(source);
    await writeFile(source, "export {}");
    await write('"second"');
    expect(await load()).to.equal("first");
    await writeFile(source, "export { }");
    expect(await load()).to.equal("second");
  });

  it("stay in memory if they cannot be kept", async () => {
    await write('"in memory"');
    await writeFile(join(folder, "cache"), "a file, no folder");
    expect(await load()).to.equal("in memory");
  });

  it("are made again a minute after a failure, which requests are told until then", async () => {
    await write("nothing");
    const time = createManualTime();
    const warnings: string[] = [];
    const loader = open({ time, warn: (sentence) => void warnings.push(sentence) });
    const failed = rejection(loader.bundles());
    const loading = loader.load(never);
    expect(await failed).to.be.instanceOf(Unavailable);
    expect(await rejection(loader.bundles())).to.be.instanceOf(Unavailable);
    await until(() => warnings.length === 1);
    expect(warnings[0]).to.match(/^the scripts of the pages cannot be bundled: /);
    await write('"repaired"');
    await until(() => time.waiting() > 0);
    time.advance(60_000);
    await loading;
    expect(await scriptOf(loader)).to.equal("repaired");
  });

  it("end their process when the service closes", async () => {
    await write("await new Promise((resolve) => setTimeout(resolve, 600_000))");
    const closing = new AbortController();
    const loader = open();
    const loading = loader.load(closing.signal);
    closing.abort();
    await loading;
    expect(await rejection(loader.bundles())).to.be.instanceOf(Unavailable);
  });
});
