import { setTimeout as delay } from "node:timers/promises";
import type { Health } from "../../../src/application/health/health.ts";
import { type EventStoreDBProcess, startEventStoreDBProcess } from "../../support/eventstoredb-process.ts";
import { masterKey, type RunningService, startInstance } from "../../support/instance.ts";
import { startMinio } from "../../support/minio.ts";
import { pollTimeoutMs } from "../../support/processes.ts";
import { addressOf, type S3Server } from "../../support/s3-server.ts";
import { temporaryFolder } from "../../support/service.ts";
import { openTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";

export const bucket = "sounds";

/** The service with a TCP proxy in front of each store. */
export interface Stage {
  /** The service's URL, also after a restart. */
  readonly url: string;
  /** The proxies of the event store and of the audio store. */
  readonly eventLine: TcpProxy;
  readonly soundLine: TcpProxy;
  /** Removes the disturbances of both proxies. */
  heal(): Promise<void>;
  readonly minio: S3Server;
  /** The address of the event store without the proxy. */
  readonly logUrl: string;
  /** Sends SIGKILL to the event store, and restarts it with its data file. */
  restartEventStore(whileDown?: () => Promise<void>): Promise<void>;
  /** Sends SIGKILL to the service, and restarts it. */
  restartService(): Promise<void>;
  /** Resolves when the service reports this status. */
  says(status: Health["status"]): Promise<void>;
  close(): Promise<void>;
}

const openStage = async (): Promise<Stage> => {
  await using opened = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  opened.defer(folder.remove);
  const dataFile = `${folder.path}/log`;
  let node: EventStoreDBProcess = await startEventStoreDBProcess(dataFile);
  opened.defer(() => node.kill());
  const minio = await startMinio();
  opened.defer(minio.stop);
  const eventLine = await openTcpProxy(node);
  opened.defer(eventLine.close);
  const soundLine = await openTcpProxy(minio);
  opened.defer(soundLine.close);
  const launch = (): Promise<RunningService> =>
    startInstance(folder.path, {
      EVENT_STORE: `esdb://127.0.0.1:${eventLine.port}?tls=false`,
      MASTER_KEY: masterKey,
      AUDIO_STORE: addressOf(minio.location(bucket, { port: soundLine.port })),
      BURST_LIMIT: "1000000",
    });
  let service = await launch();
  opened.defer(async () => {
    const code = await service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}: ${service.log.join("")}`);
  });

  const says = async (wanted: Health["status"]): Promise<void> => {
    for (const end = Date.now() + pollTimeoutMs; ; await delay(100)) {
      const { status, parts } = (await (await fetch(`${service.url}/health`)).json()) as Health;
      if (status === wanted) return;
      if (Date.now() > end) throw new Error(`the service says ${status}: ${JSON.stringify(parts)}`);
    }
  };

  const running = opened.move();
  return {
    get url() {
      return service.url;
    },
    eventLine,
    soundLine,
    heal: async () => {
      for (const line of [eventLine, soundLine]) {
        line.thaw();
        line.slow(Number.POSITIVE_INFINITY);
        await line.up();
      }
    },
    minio,
    logUrl: node.url,
    restartEventStore: async (whileDown = async () => {}) => {
      await node.kill();
      await whileDown();
      node = await startEventStoreDBProcess(dataFile, node.port);
    },
    restartService: async () => {
      await service.kill();
      service = await launch();
    },
    says,
    close: () => running.disposeAsync(),
  };
};

/** One setup for all tests of the suite. */
export const onOneStage = (opened: (stage: Stage) => void): void => {
  let stage: Stage | undefined;
  before(async () => {
    stage = await openStage();
    opened(stage);
  });
  after(async () => {
    await stage?.close();
  });
};
