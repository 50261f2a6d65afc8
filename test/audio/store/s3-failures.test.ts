import { randomBytes, randomUUID } from "node:crypto";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { expect } from "chai";
import { systemTime } from "../../../src/async/time.ts";
import { quiet } from "../../../src/audio/pipeline/log.ts";
import { StoreWriter } from "../../../src/audio/pipeline/store-writer.ts";
import { type AudioStore, AudioStoreUnavailable } from "../../../src/audio/store/audio-store.ts";
import { openS3AudioStore } from "../../../src/audio/store/s3/s3-audio-store.ts";
import type { S3Address } from "../../../src/audio/store/s3-address.ts";
import { duringTest } from "../../support/during.ts";
import { serveLocally } from "../../support/local-server.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { startMinio } from "../../support/minio.ts";
import type { S3Server } from "../../support/s3-server.ts";
import { openTcpProxy } from "../../support/tcp-proxy.ts";
import { nameOf, objectOf, soundOf } from "../pipeline/sounds.ts";

const hour = 3_600_000;
const large = randomBytes(8 * 1024 * 1024);
const name = nameOf(1);

describe("The S3 audio store on a failing server", () => {
  const line = duringTest(() => openTcpProxy(server));
  let server: S3Server;
  let place: S3Address;
  let time: ManualTime;
  let store: AudioStore;

  before(async () => {
    server = await startMinio();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    place = server.location(`v-${randomUUID()}`, { port: line.port });
    time = createManualTime();
    store = await openS3AudioStore({ ...place, time });
  });
  afterEach(async () => {
    await store.close();
  });

  describe("connections", () => {
    it("are reused: one is enough for sequential calls", async () => {
      for (let index = 0; index < 20; index++) {
        await store.put(nameOf(index), objectOf(soundOf(index)));
        await store.get(nameOf(index));
        await store.get(nameOf(index + 1));
        await store.put(nameOf(index), objectOf(soundOf(index)));
      }
      expect(line.accepted()).to.equal(1);
    });

    it("are at most 32, however many calls run at once", async () => {
      await store.put(name, objectOf(soundOf(1)));
      const all = await Promise.all(Array.from({ length: 300 }, () => store.get(name)));
      for (const object of all) expect(object && soundOf(1).equals(object.bytes)).to.equal(true);
      expect(line.accepted()).to.be.within(2, 32);
    });

    it("closed by the server while idle do not fail the next call", async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.put(nameOf(index), objectOf(soundOf(index)))),
      );
      line.cut();
      await store.put(nameOf(20), objectOf(soundOf(20)));
      expect(await store.get(nameOf(20))).not.to.equal(undefined);
    });

    it("are closed when the store is closed", async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.put(nameOf(index), objectOf(soundOf(index)))),
      );
      await store.close();
      await until(() => line.open() === 0);
    });
  });

  describe("an aborted get", () => {
    it("throws the signal's reason midway and closes its connection", async () => {
      await store.put(name, objectOf(large));
      line.slow(100_000);
      const controller = new AbortController();
      const response = thrownBy(store.get(name, controller.signal));
      const before = line.passed();
      await until(() => line.passed() > before + 20_000);
      const reason = new Error("the caller left");
      controller.abort(reason);
      expect(await response).to.equal(reason);
      await until(() => line.open() === 0);
    });

    it("leaves no timer behind, nor does any other call", async () => {
      await thrownBy(store.get(name, AbortSignal.abort()));
      await store.put(name, objectOf(soundOf(1)));
      await store.get(name);
      await store.ping();
      expect(time.waiting()).to.equal(0);
    });
  });

  describe("a server that does not respond", () => {
    it("causes AudioStoreUnavailable at the deadline, its connections are closed, and the store recovers with the server", async () => {
      line.freeze();
      const outcomes = [store.get(name), store.put(name, objectOf(soundOf(1))), store.ping()].map(thrownBy);
      await until(() => line.open() === 3);
      time.advance(hour);
      for (const error of await Promise.all(outcomes)) {
        expect(error).to.be.instanceOf(AudioStoreUnavailable);
        expect((error as Error).message).to.match(/^The audio store cannot be (read|written): ETIMEDOUT\.$/);
      }
      line.thaw();
      await until(() => line.open() === 0);
      await store.put(name, objectOf(soundOf(1)));
      expect(soundOf(1).equals((await store.get(name))?.bytes as Buffer)).to.equal(true);
    });

    it("does not prevent startup: the first successful put creates the bucket", async () => {
      await line.down();
      const warnings: string[] = [];
      const bucket = `v-${randomUUID()}`;
      const early = await openS3AudioStore({ ...place, bucket, warn: (sentence) => warnings.push(sentence) });
      expect(warnings).to.deep.equal([
        "The audio store cannot be opened: ECONNREFUSED. Audio is stored as soon as it can be written.",
      ]);
      expect(await thrownBy(early.put(name, objectOf(soundOf(1))))).to.be.instanceOf(AudioStoreUnavailable);
      await line.up();
      await early.put(name, objectOf(soundOf(1)));
      expect(soundOf(1).equals((await early.get(name))?.bytes as Buffer)).to.equal(true);
      await early.close();
    });
  });

  describe("a connection that is cut", () => {
    for (const after of [0, 100, 100_000, 7_000_000]) {
      it(`after ${after} bytes of an answer causes AudioStoreUnavailable, never a partial object`, async () => {
        await store.put(name, objectOf(large));
        line.cut();
        line.cutAfter(after);
        expect(await thrownBy(store.get(name))).to.be.instanceOf(AudioStoreUnavailable);
        expect(large.equals((await store.get(name))?.bytes as Buffer)).to.equal(true);
      });
    }

    it("during a put leaves no partial object", async () => {
      line.slow(1_000_000);
      const before = line.passed();
      const put = thrownBy(store.put(name, objectOf(large)));
      await until(() => line.passed() > before + 200_000);
      await line.down();
      expect(await put).to.be.instanceOf(AudioStoreUnavailable);
      line.slow(Number.POSITIVE_INFINITY);
      await line.up();
      expect(await store.get(name)).to.equal(undefined);
    });
  });

  /** Forwards requests to the server, except those that `refuse` responses. */
  const inFront = (refuse: (req: IncomingMessage, res: ServerResponse) => boolean) =>
    serveLocally((req, res) => {
      if (refuse(req, res)) return void req.resume();
      const { method, url: path, headers } = req;
      req.pipe(
        request({ port: server.port, host: "127.0.0.1", method, path, headers }, (response) =>
          response.pipe(res.writeHead(response.statusCode ?? 0, response.headers)),
        ),
      );
    });
  const errorBody = (code: string) => `<Error><Code>${code}</Code><Message>Try again.</Message></Error>`;

  for (const [status, code] of [
    [500, "InternalError"],
    [503, "SlowDown"],
    [400, "RequestTimeout"],
    [409, "ConditionalRequestConflict"],
  ] as const) {
    it(`retries a request after one ${status} ${code}`, async () => {
      const refusedOnce = new Set<string>();
      const server = await inFront(({ method, url = "" }, res) => {
        const request = `${method} ${url}`;
        if (refusedOnce.has(request)) return false;
        refusedOnce.add(request);
        res.writeHead(status).end(errorBody(code));
        return true;
      });
      const port = Number(new URL(server.url).port);
      const bucket = `v-${randomUUID()}`;
      const repeating = await openS3AudioStore({ ...place, port, bucket });
      await Promise.all([repeating.put(name, objectOf(soundOf(1))), repeating.ping()]);
      expect(soundOf(1).equals((await repeating.get(name))?.bytes as Buffer)).to.equal(true);
      expect(refusedOnce).to.include.keys(`PUT /${bucket}`, `PUT /${bucket}/${name}`);
      await repeating.close();
      await server.close();
    });
  }

  it("does not retry after the deadline, or after the caller aborted", async () => {
    let requests = 0;
    const server = await inFront((_req, res) => {
      requests += 1;
      res.writeHead(503).end(errorBody("SlowDown"));
      return true;
    });
    const port = Number(new URL(server.url).port);
    const opened = openS3AudioStore({ ...place, port, time });
    await until(() => time.waiting() === 2);
    time.advance(hour);
    const busy = await opened;
    const leaving = new AbortController();
    const calls = [thrownBy(busy.put(name, objectOf(soundOf(1)))), thrownBy(busy.get(name, leaving.signal))];
    await until(() => requests === 3 && time.waiting() === 4);
    leaving.abort(new Error("the caller left"));
    time.advance(hour);
    const [put, get] = await Promise.all(calls);
    expect(put).to.be.instanceOf(AudioStoreUnavailable);
    expect(get).to.equal(leaving.signal.reason);
    expect({ requests, waiting: time.waiting() }).to.deep.equal({ requests: 3, waiting: 0 });
    await busy.close();
    await server.close();
  });

  it("throws AudioStoreUnavailable for every call while the server responds 503, holds no connection, and recovers", async () => {
    let storm = false;
    const server = await inFront((_req, res) => {
      if (storm) res.writeHead(503).end(Buffer.alloc(200_000));
      return storm;
    });
    const behind = await openTcpProxy({ port: Number(new URL(server.url).port) });
    const stormy = await openS3AudioStore({ ...place, port: behind.port });
    await stormy.put(name, objectOf(soundOf(1)));
    storm = true;
    const outcomes = Array.from({ length: 64 }, (_, index) =>
      index % 2 ? stormy.get(name) : stormy.put(nameOf(index), objectOf(soundOf(index))),
    );
    for (const error of await Promise.all(outcomes.map(thrownBy)))
      expect((error as Error).message).to.match(/^The audio store cannot be (read|written): HTTP_503\.$/);
    storm = false;
    expect(soundOf(1).equals((await stormy.get(name))?.bytes as Buffer)).to.equal(true);
    expect(behind.accepted()).to.be.at.most(32);
    await stormy.close();
    await behind.close();
    await server.close();
  });

  for (const [status, code] of [
    [507, "XMinioStorageFull"],
    [501, "NotImplemented"],
    [403, "QuotaExceeded"],
  ] as const) {
    it(`reports ${status} ${code} without a retry, on a reusable connection`, async () => {
      const server = await serveLocally((req, res) => {
        req.resume();
        if (req.url?.endsWith("/ping")) return void res.writeHead(200, { ETag: '"0"' }).end();
        res.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
      });
      const behind = await openTcpProxy({ port: Number(new URL(server.url).port) });
      const refused = await openS3AudioStore({ ...place, port: behind.port, time });
      for (const ask of [() => refused.put(name, objectOf(soundOf(1))), () => refused.get(name)])
        expect((await thrownBy(ask())) as Error)
          .to.have.property("message")
          .that.matches(new RegExp(`: ${code}\\.$`));
      expect(behind.accepted()).to.equal(1);
      await refused.close();
      await behind.close();
      await server.close();
    });
  }

  it("starts on a server whose disk is full", async () => {
    const server = await serveLocally((req, res) => {
      req.resume();
      res.writeHead(507).end("<Error><Code>XMinioStorageFull</Code><Message>no</Message></Error>");
    });
    const warnings: string[] = [];
    const port = Number(new URL(server.url).port);
    const early = await openS3AudioStore({
      ...place,
      port,
      time,
      warn: (sentence) => warnings.push(sentence),
    });
    expect(warnings).to.deep.equal([
      "The audio store cannot be opened: XMinioStorageFull. Audio is stored as soon as it can be written.",
    ]);
    await early.close();
    await server.close();
  });
});

describe("The writer of the S3 audio store", () => {
  it("loses no pending object when the server is killed and restarted", async () => {
    const server = await startMinio();
    try {
      const store = await openS3AudioStore(server.location("sounds"));
      const writer = new StoreWriter({
        ...{ store, time: systemTime, log: quiet, random: Math.random },
        ...{ pendingBytes: 64 * 1024 * 1024, writesAtOnce: 4, writeMs: 30_000, retryMs: hour },
      });
      for (let index = 0; index < 300; index++) writer.put(nameOf(index), objectOf(soundOf(index)));
      await until(() => writer.stats().written > 50);
      await server.kill();
      await until(() => writer.stats().retried > 0);
      await server.restart();
      expect(await writer.drain(hour)).to.equal(0);
      expect(writer.stats()).to.include({ written: 300, lost: 0 });
      for (let index = 0; index < 300; index++)
        expect(soundOf(index).equals((await store.get(nameOf(index)))?.bytes as Buffer)).to.equal(true);
      await store.close();
    } finally {
      await server.stop();
    }
  });
});

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
