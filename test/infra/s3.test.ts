import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { openS3AudioStore } from "../../src/audio/store/s3/s3-audio-store.ts";
import { parseS3Address } from "../../src/audio/store/s3-address.ts";
import { nameOf, objectOf, soundOf } from "../audio/pipeline/sounds.ts";
import { rejection } from "../support/rejection.ts";
import { addressOf, type S3Server } from "../support/s3-server.ts";
import { startVersitygw } from "../support/versitygw.ts";
import { readYaml } from "./files.ts";

const { services } = readYaml("compose.yaml") as {
  services: Record<"versitygw" | "bucket", { entrypoint: string[]; command: string[] }>;
};
const tools = join(import.meta.dirname, "../../.tools/bin");

describe("the S3 server of compose.yaml", () => {
  let server: S3Server;
  before(async () => {
    server = await startVersitygw();
  });
  after(() => server?.stop());

  /** Runs the bucket service's command. Compose files escape `$` as `$$`. */
  const setUpBucket = async (secret: string): Promise<void> => {
    const [shell = "", ...flags] = services.bucket.entrypoint;
    await promisify(execFile)(
      shell,
      [...flags, ...services.bucket.command.map((one) => one.replaceAll("$$", "$"))],
      {
        env: {
          PATH: [tools, process.env.PATH].join(delimiter),
          ADMIN_ENDPOINT_URL: `http://127.0.0.1:${server.port}`,
          ADMIN_ACCESS_KEY: server.accessKey,
          ADMIN_SECRET_KEY: server.secretKey,
          S3_SECRET: secret,
        },
      },
    );
  };
  const account = (secretKey: string, bucket = "voxledger") =>
    parseS3Address(addressOf(server.location(bucket, { accessKey: "voxledger", secretKey })));

  it("has the version and flags that the tests use", async () => {
    const flags = (args: readonly string[]) =>
      args.filter((arg) => arg.startsWith("--") && arg !== "--quiet");
    expect(flags(services.versitygw.command)).to.have.members([
      "--port",
      "--health",
      "--keep-alive",
      "--iam-dir",
    ]);
    const script = await promisify(execFile)("grep", ["^versitygw=", "scripts/s3-servers"]);
    const [, version] = /@(v[\d.]+)$/m.exec(script.stdout) ?? [];
    for (const name of ["versitygw", "bucket"] as const)
      expect(services[name]).to.have.property("image", `versity/versitygw:${version}`);
  });

  it("gives the service's account access to its own bucket only", async () => {
    await setUpBucket("the-first-secret");
    const store = await openS3AudioStore(account("the-first-secret"));
    await store.put(nameOf(1), objectOf(soundOf(1)));
    expect(soundOf(1).equals((await store.get(nameOf(1)))?.bytes as Buffer)).to.equal(true);
    await store.close();
    const refused = await rejection(openS3AudioStore(account("the-first-secret", "another-bucket")));
    expect(refused).to.have.property("message").that.includes("AccessDenied");
  });

  it("can be set up again with another secret", async () => {
    await setUpBucket("the-first-secret");
    await setUpBucket("the-second-secret");
    const store = await openS3AudioStore(account("the-second-secret"));
    await store.ping();
    await store.close();
  });
});
