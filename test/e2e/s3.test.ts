import { expect } from "chai";
import { pino } from "pino";
import type { Health } from "../../src/application/health/health.ts";
import { bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { startMinio } from "../support/minio.ts";
import { addressOf, type S3Server } from "../support/s3-server.ts";
import { failToStart, temporaryFolder } from "../support/service.ts";
import { openTcpProxy } from "../support/tcp-proxy.ts";

const hello = { voice: "UK English Female", text: "Kept in a bucket." };

describe("The service with an S3 audio store", () => {
  let minio: S3Server;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  before(async () => {
    minio = await startMinio();
  });
  after(() => minio?.stop());
  let log: string;
  const start = (AUDIO_STORE: string) =>
    startInProcessService(
      { DATA_DIR: folder.path, AUDIO_STORE },
      pino(
        { level: "info" },
        {
          write: (line) => {
            log += line;
          },
        },
      ),
    );

  beforeEach(async () => {
    log = "";
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const health = async (url: string): Promise<Health> =>
    (await (await fetch(`${url}/health`)).json()) as Health;

  it("serves an object from the bucket under the same name after a restart", async () => {
    const place = minio.location("kept");
    const first = await start(addressOf(place));
    const website = await registerWebsite(first.url);
    const made = await synthesize(first.url, website, hello);
    expect(made.headers.get("svc-cached")).to.equal("miss");
    await first.close();
    const second = await start(addressOf(place));
    const found = await synthesize(second.url, website, hello);
    expect(found.headers.get("svc-cached")).to.equal("store");
    expect((await bytesOf(found)).equals(await bytesOf(made))).to.equal(true);
    expect((await health(second.url)).status).to.equal("ok");
    await second.close();
    expect(log).to.include("synthesize");
    expect(log).not.to.include(encodeURIComponent(place.secretKey));
    expect(log).not.to.include(place.secretKey);
  });

  it("starts and synthesizes while the S3 server is down, reports it, and stores the audio when the server is back", async () => {
    const line = await openTcpProxy(minio);
    await line.down();
    const address = addressOf(minio.location("later", { port: line.port }));
    const first = await start(address);
    const website: Credentials = await registerWebsite(first.url);
    expect((await synthesize(first.url, website, hello)).headers.get("svc-cached")).to.equal("miss");
    const { status, parts } = await health(first.url);
    expect(status).to.equal("degraded");
    expect(parts.audioStore).to.deep.equal({
      ...{ status: "down", detail: "The audio store cannot be written: ECONNREFUSED." },
    });
    expect(log).to.include("The audio store cannot be opened: ECONNREFUSED.");
    await line.up();
    await first.close();
    const second = await start(address);
    expect((await synthesize(second.url, website, hello)).headers.get("svc-cached")).to.equal("store");
    await second.close();
    await line.close();
  });

  it("does not start with credentials that the S3 server rejects, and reports it in one line without them", async () => {
    const place = minio.location("refused", { secretKey: "not-the-secret" });
    const { code, stdout, stderr } = await failToStart({
      ...{ PORT: "0", DATA_DIR: folder.path, AUDIO_STORE: addressOf(place) },
    });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr).to.match(
      /^voxledger: AUDIO_STORE: The audio store cannot be opened: SignatureDoesNotMatch\.[^\n]*\n$/,
    );
    for (const secret of [place.accessKey, place.secretKey]) expect(stderr).not.to.include(secret);
  });
});
