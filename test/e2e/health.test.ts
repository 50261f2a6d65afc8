import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { registerWebsite, synthesizeByPost } from "../support/client.ts";
import { duringTest } from "../support/during.ts";
import { freePort } from "../support/free-port.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { startService, temporaryFolder } from "../support/service.ts";

interface Named {
  readonly name: string;
  readonly status: string;
}

describe("The health endpoint", () => {
  const folder = duringTest(temporaryFolder);
  let url: string;
  let stop: (() => Promise<unknown>) | undefined;
  const startInProcess = async (env: Record<string, string> = {}): Promise<void> => {
    const service = await startInProcessService({ DATA_DIR: folder.path, ...env });
    url = service.url;
    stop = service.close;
  };

  afterEach(async () => {
    await stop?.();
  });

  const ask = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    const body = (await response.json()) as { status: string; dependencies: Named[] };
    return { status: response.status, body };
  };
  /** Polls until the service reports this status. */
  const untilReady = async (status: string): Promise<{ status: number; dependencies: Named[] }> => {
    for (;;) {
      const { status: code, body } = await ask("/health/ready");
      if (body.status === status) return { status: code, dependencies: body.dependencies };
      await delay(20);
    }
  };
  const down = (dependencies: readonly Named[]): string[] =>
    dependencies.flatMap(({ name, status }) => (status === "ok" ? [] : [name]));

  it("reports alive and ready", async () => {
    await startInProcess();
    expect(await ask("/health/live")).to.deep.equal({ status: 200, body: { status: "ok" } });
    const { status, body } = await ask("/health/ready");
    expect(status).to.equal(200);
    expect(body.dependencies.map(({ name }: Named) => name)).to.have.members([
      "eventStore",
      "projections",
      "reports",
      "events",
      "clock",
      "seals",
      "engines",
      "voices",
      "queues",
      "audioStore",
    ]);
  });

  it("reports alive and not ready without the event store", async () => {
    await startInProcess();
    using lock = new DatabaseSync(join(folder.path, "events.db"));
    lock.exec("BEGIN IMMEDIATE");
    const { status, dependencies } = await untilReady("down");
    expect(status).to.equal(503);
    expect(down(dependencies)).to.include("eventStore");
    expect((await ask("/health/live")).status).to.equal(200);
  });

  it("reports ready without the audio store, and names what is missing", async () => {
    await startInProcess();
    await rm(join(folder.path, "audio"), { recursive: true });
    await writeFile(join(folder.path, "audio"), "no folder");
    const { status, dependencies } = await untilReady("degraded");
    expect(status).to.equal(200);
    expect(down(dependencies)).to.deep.equal(["audioStore"]);
  });

  it("reports ready while the circuit of one engine is open and others work", async () => {
    const unreachable = `openai:http://127.0.0.1:${await freePort()}/v1?model=kokoro&voices=af_bella`;
    await startInProcess({ ENGINE_G2: unreachable, PROVIDER_CONNECT_MS: "200" });
    const website = await registerWebsite(url);
    await Promise.all(
      Array.from({ length: 6 }, (_, nth) =>
        synthesizeByPost(url, website, {
          voice: "af_bella",
          text: `Somebody else says number ${nth}.`,
        }),
      ),
    );
    const { status, dependencies } = await untilReady("degraded");
    expect(status).to.equal(200);
    expect(down(dependencies)).to.deep.equal(["engine g2"]);
  });

  it("reports not ready from SIGTERM on, while requests are still served", async () => {
    const service = await startService(folder.path, { DRAIN_DELAY_SECONDS: "600" });
    ({ url, stop } = service);
    const ended = service.stop();
    const { status } = await untilReady("draining");
    expect(status).to.equal(503);
    expect((await ask("/health/live")).status).to.equal(200);
    await service.kill();
    await ended;
  });
});
