import { execFile } from "node:child_process";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type Credentials, registerWebsite } from "../support/client.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { python } from "../support/python.ts";
import { temporaryFolder } from "../support/service.ts";
import { secondsOf } from "../support/streams.ts";

const run = promisify(execFile);

interface Program {
  readonly language: "js" | "py";
  readonly text: string;
}

/** The examples of the README that are programs and write a sound. */
const programsIn = (readme: string): Program[] =>
  [...readme.matchAll(/```(js|py)\n(.*?)```/gs)]
    .map(([, language, text = ""]): Program => ({ language: language as Program["language"], text }))
    .filter(({ text }) => /writeFile\(|write_to_file\(|save\(|wave\.open\(/.test(text));

const interpreters = { js: process.execPath, py: python };

describe("the README's programs for other services' clients", () => {
  let service: InProcessService;
  let website: Credentials;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let data: typeof folder;

  before(async () => {
    [folder, data] = await Promise.all([temporaryFolder(), temporaryFolder()]);
    // The key of Wyoming's clients is a setting, so it must exist before the service starts.
    service = await startInProcessService({ DATA_DIR: data.path });
    website = await registerWebsite(service.url);
    await service.close();
    const wyoming = { WYOMING_PORT: "0", WYOMING_KEY: `${website.apiKey}.${website.apiSecret}` };
    service = await startInProcessService({ DATA_DIR: data.path, ...wyoming });
    await symlink(resolve("node_modules"), join(folder.path, "node_modules"));
  });
  after(async () => {
    await service.close();
    await Promise.all([folder.remove(), data.remove()]);
  });

  it("each write a sound", async () => {
    const programs = programsIn(await readFile("README.md", "utf8"));
    expect(programs).to.have.length.above(4);
    const { apiKey, apiSecret } = website;
    const env = {
      ...{ PATH: process.env.PATH, API_KEY: apiKey, API_SECRET: apiSecret },
      WYOMING_URL: service.wyomingUrl,
    };
    const given = ["node_modules", "program.mjs", "program.py"];
    const written = new Set<string>();
    for (const { language, text } of programs) {
      const file = join(folder.path, language === "js" ? "program.mjs" : "program.py");
      await writeFile(file, text.replaceAll("http://127.0.0.1:8080", service.url));
      await run(interpreters[language], [file], { env, cwd: folder.path });
      const sounds = (await readdir(folder.path)).filter(
        (name) => !given.includes(name) && !written.has(name),
      );
      expect(sounds, text).to.have.length(1);
      for (const sound of sounds) {
        expect(await secondsOf(await readFile(join(folder.path, sound))), sound).to.be.within(1, 5);
        written.add(sound);
      }
    }
  });
});
