import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import { ask, type InProcessService, startInProcessService } from "../../../support/in-process-service.ts";
import { until } from "../../../support/processes.ts";
import { adminToken, temporaryFolder } from "../../../support/service.ts";

describe("DELETE /admin/audio/{hash}", () => {
  let cache: Server;
  let status = 200;
  const purges: (string | undefined)[][] = [];
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: InProcessService;
  let website: Credentials;

  before(async () => {
    cache = createServer((request, response) => {
      purges.push([request.method, request.url, request.headers.authorization]);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => cache.listen(0, "127.0.0.1", resolve));
    const { port } = cache.address() as AddressInfo;
    folder = await temporaryFolder();
    service = await startInProcessService({
      DATA_DIR: folder.path,
      PURGE_URL: `http://127.0.0.1:${port}/`,
      PURGE_TOKEN: "a token",
    });
    website = await registerWebsite(service.url);
  });
  after(async () => {
    await service.close();
    await folder.remove();
    cache.close();
  });
  beforeEach(() => {
    purges.length = 0;
    status = 200;
  });

  const synthesize = (text: string) =>
    ask(`${service.url}/v2/text/synthesize?${new URLSearchParams({ text, lang: "en-GB" })}`, {
      headers: authorize(website),
    });
  /** The files of the audio and its marks; they are written in the background. */
  const stored = (hash: string): string[] =>
    readdirSync(folder.path, { recursive: true, encoding: "utf8" }).filter((path) =>
      [`${hash}.mp3`, `${hash}.marks.json`].includes(basename(path)),
    );
  const remove = (hash: string) => admin(service.url, "DELETE", `/audio/${hash}`);
  const hashOf = ({ headers }: Awaited<ReturnType<typeof synthesize>>) =>
    headers.etag?.replaceAll('"', "") ?? "";

  it("removes the audio from memory, store and CDN, records it, and the same bytes are made again", async () => {
    const first = await synthesize("Delete me.");
    const hash = hashOf(first);
    const object = service.url + first.headers["content-location"];
    await until("the audio and its marks are stored", () => stored(hash).length === 2);
    const deleted = await remove(hash);
    expect(deleted.status).to.equal(200);
    expect(deleted.body).to.include({ hash, purged: true });
    expect((deleted.body as { objects: string[] }).objects).to.have.members([
      `public/${hash}.mp3`,
      `public/${hash}.marks.json`,
    ]);
    expect(stored(hash)).to.deep.equal([]);
    expect(purges[0]).to.deep.equal(["PURGE", `/audio/${hash}`, "Bearer a token"]);
    expect((await ask(object)).status).to.equal(404);
    const again = await synthesize("Delete me.");
    expect(again.headers["svc-cached"]).to.equal("miss");
    expect(again.text).to.equal(first.text);
    const audit = await fetch(`${service.url}/admin/audit`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const entries = (await audit.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const deletions = entries.filter(({ type }) => type === "AudioDeleted");
    expect(deletions[0]).to.deep.include({ stream: "audio" });
    expect(deletions[0].data.hash).to.equal(hash);
    expect(deletions[0].metadata.actor).to.match(/^admin/);
  });

  it("succeeds for audio that is not stored, because a CDN may still have it", async () => {
    const { status: response, body } = await remove("0".repeat(64));
    expect([response, body]).to.deep.equal([200, { hash: "0".repeat(64), objects: [], purged: true }]);
  });

  it("is incomplete, with 503, when the CDN refuses; it can be repeated", async () => {
    status = 401;
    const refused = await remove("1".repeat(64));
    expect(refused.status).to.equal(503);
    expect(JSON.stringify(refused.body)).to.contain("repeat it: A cache refused the purge (HTTP 401).");
    status = 200;
    expect((await remove("1".repeat(64))).status).to.equal(200);
  });

  it("responds 404 for what is not a hash", async () => {
    for (const bad of ["x", "A".repeat(64), `${"0".repeat(64)}.mp3`]) {
      expect((await remove(bad)).status, bad).to.equal(404);
    }
    expect(purges).to.deep.equal([]);
  });
});
