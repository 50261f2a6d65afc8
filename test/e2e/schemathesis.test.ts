import { execFile } from "node:child_process";
import { access, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { isSample } from "../support/sample.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../support/service.ts";

const root = resolve(import.meta.dirname, "../..");
const program = join(root, ".tools/schemathesis/bin/schemathesis");
const auditorToken = "a-token-that-only-auditors-know";
const settings = join(import.meta.dirname, "schemathesis");

/** The phase that takes the most time is left out of a sample. */
const phases = isSample ? ["--phases", "examples,fuzzing"] : [];

interface Ended {
  readonly code: number;
  readonly output: string;
}

interface Scope {
  /**
   * A regular expression for the operations, named as in `GET /health`, that refuse the
   * credentials. Default: none.
   */
  readonly refusing?: string;
  readonly options?: readonly string[];
}

/**
 * An operation refuses credentials before it reads parameters, so varied requests would be refused
 * alike. It is sent its examples, or one generated request. Another run varies its parameters, with
 * credentials that it accepts.
 */
const examplesOnly = (operations: string | undefined): string =>
  operations === undefined
    ? ""
    : `
[[operations]]
include-name-regex = '${operations}'
phases.examples.fill-missing = true
phases.coverage.enabled = false
phases.fuzzing.enabled = false
`;

/** schemathesis/schemathesis.toml says what is checked, and what is not and why. */
const run = async (
  url: string,
  folder: string,
  headers: Record<string, string>,
  { website, refusing, options = [] }: Scope & { readonly website: Credentials },
): Promise<Ended> => {
  const credentials = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  // Headers given here are sent even where this check leaves one out. The run without credentials
  // makes it.
  if (credentials.length > 0) credentials.push("--exclude-checks", "missing_required_header");
  const config = join(folder, "schemathesis.toml");
  await writeFile(
    config,
    (await readFile(join(settings, "schemathesis.toml"), "utf8")) + examplesOnly(refusing),
  );
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: "hooks",
    PYTHONPATH: settings,
    PYTHONDONTWRITEBYTECODE: "1",
    NO_PROXY: "127.0.0.1", // otherwise each request reads the whole environment for proxies
    ...(credentials.length > 0 && { HAS_CREDENTIALS: "1" }),
    WEBSITE_ID: website.id,
    WEBSITE_KEY: website.apiKey,
  };
  return await new Promise((done) => {
    execFile(
      program,
      [
        "--config-file",
        config,
        "run",
        `${url}/openapi.json`,
        "--no-color",
        ...phases,
        ...options,
        ...credentials,
      ],
      { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => done({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
};

describe("schemathesis, over the whole description", function () {
  this.timeout(1_800_000); // its budget on an idle machine is 12 minutes
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

  const findsNothing = async (headers: Record<string, string>, scope: Scope): Promise<void> => {
    // Not the key of the requests: it is suspended on the way.
    const website = await registerWebsite(service.url);
    const { code, output } = await run(service.url, folder.path, headers, { website, ...scope });
    expect(code, output).to.equal(0);
    expect(output).to.match(/\b\d{3,} generated/);
  };

  it("finds nothing with a key", async () => {
    const headers = authorize(await registerWebsite(service.url));
    await findsNothing(headers, { refusing: " /admin/" });
  });

  it("finds nothing with the admin token", async () => {
    await findsNothing(
      { Authorization: `Bearer ${adminToken}` },
      { refusing: " /(?!admin/|openai/v1/organization/)" },
    );
  });

  it("finds nothing with an auditor's token", async () => {
    // Other operations do not know the token. The operator's run has the coverage phase of these.
    const options = [
      "--include-path-regex",
      "^/(admin|openai/v1/organization)/",
      "--phases",
      "examples,fuzzing",
    ];
    await findsNothing({ Authorization: `Bearer ${auditorToken}` }, { options });
  });

  it("finds nothing without credentials", async () => {
    await findsNothing({}, {});
  });
});
