import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../support/service.ts";

const root = resolve(import.meta.dirname, "../..");
const program = join(root, ".tools/schemathesis/bin/schemathesis");
const auditorToken = "a-token-that-only-auditors-know";
const settings = join(import.meta.dirname, "schemathesis");

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** schemathesis/schemathesis.toml says what is checked, and what is not and why. */
const run = (
  url: string,
  folder: string,
  headers: Record<string, string>,
  { website, paths }: { readonly website: Credentials; readonly paths: string },
): Promise<Ended> => {
  const credentials = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  // Headers given here are sent even where this check leaves one out. The run without credentials makes it.
  if (credentials.length > 0) credentials.push("--exclude-checks", "missing_required_header");
  const config = ["--config-file", join(settings, "schemathesis.toml")];
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: "hooks",
    PYTHONPATH: settings,
    PYTHONDONTWRITEBYTECODE: "1",
    WEBSITE_ID: website.id,
    WEBSITE_KEY: website.apiKey,
  };
  return new Promise((done) => {
    execFile(
      program,
      [...config, "run", `${url}/openapi.json`, "--no-color", "--include-path-regex", paths, ...credentials],
      { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => done({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
};

describe("schemathesis, over the whole description", function () {
  this.timeout(900_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;

  before(async () => {
    await access(program).catch(() => {
      throw new Error("schemathesis is missing: run scripts/schemathesis.");
    });
    folder = await temporaryFolder();
    service = await startService(folder.path, {
      TRUST_PROXY: "127.0.0.1", // addresses come from hooks.py
      AUDITOR_TOKEN: auditorToken,
    });
  });
  after(async () => {
    await service?.stop();
    await folder?.remove();
  });

  const findsNothing = async (headers: Record<string, string>, paths = "^/"): Promise<void> => {
    // Not the key of the requests: it is suspended on the way.
    const website = await registerWebsite(service.url);
    const { code, output } = await run(service.url, folder.path, headers, { website, paths });
    expect(code, output).to.equal(0);
    expect(output).to.match(/\b\d{3,} generated/);
  };

  it("finds nothing with a key", async () => {
    await findsNothing(authorize(await registerWebsite(service.url)));
  });

  it("finds nothing with the admin token", async () => {
    await findsNothing({ Authorization: `Bearer ${adminToken}` });
  });

  it("finds nothing with an auditor's token", async () => {
    // Other operations do not know the token.
    await findsNothing({ Authorization: `Bearer ${auditorToken}` }, "^/(admin|openai/v1/organization)/");
  });

  it("finds nothing without credentials", async () => {
    await findsNothing({});
  });
});
