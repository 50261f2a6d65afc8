import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { createAudioAddresses } from "../../../src/application/articles/audio-addresses.ts";
import { createPromisedAudio } from "../../../src/application/articles/promised-audio.ts";
import type { Encoder } from "../../../src/audio/formats/encoder.ts";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { pipelineLimits } from "../../../src/audio/pipeline/pipeline-limits.ts";
import { type AudioStore, hashInName } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { publicUrlPath } from "../../../src/domain/synthesis/recipe.ts";
import { createClientOwner } from "../../../src/http/kernel/client-address.ts";
import { createHoldUnsentBytes } from "../../../src/http/kernel/unsent-bytes.ts";
import { audioOperation } from "../../../src/http/routes/audio.ts";
import { nameOf, objectOf, soundOf } from "../../audio/pipeline/sounds.ts";
import { ask } from "../../support/in-process-service.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { type OperationServer, serveOperations } from "../../support/operation-server.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";

const { partBytes } = pipelineLimits;

describe("GET /audio/{object}", () => {
  let path: string;
  let store: AudioStore;
  let server: OperationServer;
  let time: ManualTime;
  /** Bytes of objects that were read from the store. */
  let bytesRead: number;
  let objectsLoaded: number;
  let readsInProgress: number;
  const sockets: Socket[] = [];

  /** More than the buffers of a connection take. */
  const large = soundOf(1, 24 * 1024 * 1024);
  const largeName = nameOf(1);
  const smallName = nameOf(2);
  const small = soundOf(2, 1_000);

  before(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-route-"));
    store = await openFilesystemAudioStore({ path });
    await store.put(largeName, objectOf(large));
    await store.put(smallName, objectOf(small));
  });
  after(() => rm(path, { recursive: true }));
  beforeEach(async () => {
    [bytesRead, objectsLoaded, readsInProgress] = [0, 0, 0];
    time = createManualTime();
    const counting: AudioStore = {
      ...store,
      get: (...args) => {
        objectsLoaded++;
        return store.get(...args);
      },
      read: async (...args) => {
        readsInProgress++;
        const part = await store.read(...args).finally(() => readsInProgress--);
        bytesRead += part?.bytes.length ?? 0;
        return part;
      },
    };
    const pipeline = createPipeline({
      ...{ engines: () => undefined, encoder: {} as Encoder, store: counting, cache: createMemoryCache() },
    });
    // Two parts for an address, three in all. The test's header names the address.
    const clientOwner = createClientOwner(
      ({ headers }) => String(headers["x-address"] ?? "203.0.113.1"),
      ["192.0.2.0/24"],
    );
    const holdUnsentBytes = createHoldUnsentBytes(clientOwner, {
      perOwner: 2 * partBytes,
      total: 3 * partBytes,
      heldMs: 20_000,
      time,
    });
    const audioAddresses = createAudioAddresses({
      namingKey: createSecretKey(Buffer.alloc(32)),
      findActiveKey: () => testPrincipal(),
      findEngine: () => undefined,
      clock: () => 0,
    });
    const promisedAudio = createPromisedAudio({
      audioReads: pipeline,
      speaker: { begun: () => undefined, ended: () => undefined, stream: async () => undefined },
      time,
    });
    server = await serveOperations([
      audioOperation({
        ...{ audioReads: pipeline, audioAddresses, promisedAudio },
        ...{ clientOwner, holdUnsentBytes, publicPath: "" },
      }),
    ]);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
    expect(objectsLoaded).to.equal(0);
  });

  const urlOf = (name: string): string => server.url + publicUrlPath(name);
  const get = async (name: string, headers: Record<string, string> = {}) => {
    const response = await fetch(urlOf(name), { headers });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const tagOf = (name: string): string => `"${hashInName(name)}"`;

  it("sends a whole object in its own bytes, with its length and duration", async () => {
    const { response, bytes } = await get(largeName);
    expect(response.status).to.equal(200);
    expect(large.equals(bytes)).to.equal(true);
    expect(response.headers.get("content-length")).to.equal(String(large.length));
    expect(response.headers.get("x-audio-duration")).to.equal((large.length / 8000).toFixed(3));
    expect(response.headers.get("etag")).to.equal(tagOf(largeName));
  });

  it("reads no bytes for HEAD, 304 and 416, and serves them from the object's size", async () => {
    const head = await ask(urlOf(largeName), { method: "HEAD" });
    expect([head.status, head.headers["content-length"]]).to.deep.equal([200, String(large.length)]);
    const tag = { "If-None-Match": tagOf(largeName) };
    const unchanged = await ask(urlOf(largeName), { headers: tag });
    expect([unchanged.status, unchanged.headers.etag]).to.deep.equal([304, tagOf(largeName)]);
    expect((await ask(urlOf(largeName), { method: "HEAD", headers: tag })).status).to.equal(304);
    const beyond = await ask(urlOf(largeName), { headers: { Range: `bytes=${large.length}-` } });
    expect([beyond.status, beyond.headers["content-range"]]).to.deep.equal([416, `bytes */${large.length}`]);
    for (const [method, headers] of [
      ["GET", {}],
      ["HEAD", {}],
      ["GET", { "If-None-Match": "*" }],
      ["GET", { Range: "bytes=0-0" }],
    ] as const) {
      expect((await ask(urlOf(nameOf(9)), { method, headers })).status).to.equal(404);
    }
    expect(bytesRead).to.equal(0);
  });

  for (const [range, start, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=-1", large.length - 1, large.length],
    [`bytes=${large.length - 5}-`, large.length - 5, large.length],
    [`bytes=10-${partBytes + 20}`, 10, partBytes + 21],
  ] as const) {
    it(`reads only the bytes of ${range}`, async () => {
      const { response, bytes } = await get(largeName, { Range: range });
      expect(response.status).to.equal(206);
      expect(large.subarray(start, end).equals(bytes)).to.equal(true);
      expect(response.headers.get("content-range")).to.equal(`bytes ${start}-${end - 1}/${large.length}`);
      expect(response.headers.get("content-length")).to.equal(String(end - start));
      expect(bytesRead).to.equal(end - start);
    });
  }

  it("sends the whole object if If-Range names other audio", async () => {
    const other = await get(smallName, { Range: "bytes=0-0", "If-Range": '"other"' });
    expect([other.response.status, other.bytes.length]).to.deep.equal([200, 1_000]);
    const same = await get(smallName, { Range: "bytes=0-0", "If-Range": tagOf(smallName) });
    expect(same.response.status).to.equal(206);
  });

  it("destroys the connection before the last byte of an object of which a byte has changed", async () => {
    const name = nameOf(3);
    const sound = soundOf(3, 3 * partBytes);
    await store.put(name, objectOf(sound));
    const file = (await readdir(path, { recursive: true })).find((each) => each.endsWith(basename(name)));
    const bytes = await readFile(join(path, file ?? ""));
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    await writeFile(join(path, file ?? ""), bytes);
    expect(await rejection(get(name))).to.be.instanceOf(TypeError);
    await writeFile(join(path, file ?? ""), bytes.subarray(0, 1000));
    expect((await ask(urlOf(name))).status).to.equal(404);
  });

  /** Requests the large object, and reads nothing of it. */
  const stall = (address: string): Socket => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on("error", () => undefined).pause();
    socket.write(`GET ${publicUrlPath(largeName)} HTTP/1.1\r\nHost: a\r\nX-Address: ${address}\r\n\r\n`);
    return socket;
  };
  /** Resolves when no more bytes are read, because no client takes any. */
  const untilStalled = async (): Promise<void> => {
    for (let [before, turns] = [-1, 0]; turns < 200; turns++) {
      await setImmediate();
      if (readsInProgress > 0 || before !== bytesRead) turns = 0;
      before = bytesRead;
    }
  };

  it("lets the responses to an address wait while its clients do not read, and others proceed", async () => {
    stall("203.0.113.1");
    stall("203.0.113.1");
    await untilStalled();
    const before = bytesRead;
    const waiting = get(smallName, { "X-Address": "203.0.113.1" });
    await untilStalled();
    expect(bytesRead).to.equal(before);
    expect((await get(smallName, { "X-Address": "203.0.113.2" })).bytes).to.have.length(1_000);
    sockets[0]?.destroy();
    expect((await waiting).bytes).to.have.length(1_000);
  });

  it("ends responses that a client has not read for 20 seconds, if others wait", async () => {
    const stalled = [stall("203.0.113.1"), stall("203.0.113.1")];
    await untilStalled();
    time.advance(60_000);
    await untilStalled();
    const waiting = get(smallName);
    await untilStalled();
    time.advance(0);
    expect((await waiting).bytes).to.have.length(1_000);
    stalled[0]?.resume();
    await once(stalled[0] as Socket, "close");
    expect(stalled[1]?.closed).to.equal(false);
  });

  it("holds no more for a CDN's many clients than for all clients together", async () => {
    for (let client = 0; client < 3; client++) stall("192.0.2.7");
    await untilStalled();
    const waiting = get(smallName, { "X-Address": "192.0.2.8" });
    await untilStalled();
    sockets[2]?.destroy();
    expect((await waiting).bytes).to.have.length(1_000);
  });

  it("sends 1,000 objects to one address without an error", async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => nameOf(100 + index));
    await Promise.all(names.map((name, index) => store.put(name, objectOf(soundOf(100 + index)))));
    const pulled = await Promise.all(names.map((name) => get(name)));
    for (const [index, { response, bytes }] of pulled.entries()) {
      expect(response.status).to.equal(200);
      expect(soundOf(100 + index).equals(bytes)).to.equal(true);
    }
  });
});
