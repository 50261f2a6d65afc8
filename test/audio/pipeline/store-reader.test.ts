import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { quiet } from "../../../src/audio/pipeline/log.ts";
import { createStoreReader, type StoreReader } from "../../../src/audio/pipeline/store-reader.ts";
import { type AudioContent, AudioStoreUnavailable } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { nameOf, objectOf, soundOf } from "./sounds.ts";

const never = new AbortController().signal;

describe("Reading from the audio store", () => {
  let path: string;
  let store: FaultyStore;
  let time: ManualTime;
  let reader: StoreReader;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-reader-"));
    store = withFaults(await openFilesystemAudioStore({ path }));
    time = createManualTime();
    const limits = { readMs: 2000, readFailureThreshold: 3, readResetMs: 5000 };
    reader = createStoreReader({ ...limits, store, time, log: quiet });
    await store.put(nameOf(1), objectOf(soundOf(1)));
  });
  afterEach(() => rm(path, { recursive: true }));

  const read = (): Promise<unknown> => reader.read(nameOf(1), never).catch((error: unknown) => error);
  const failThrice = async (): Promise<void> => {
    store.mode = "refuses";
    for (let i = 0; i < 3; i++) expect(await read()).to.be.instanceOf(AudioStoreUnavailable);
  };

  it("returns the object, or undefined when it does not exist", async () => {
    expect(soundOf(1).equals(((await read()) as AudioContent).bytes)).to.equal(true);
    expect(await reader.read(nameOf(2), never)).to.equal(undefined);
  });

  it("fails when the store does not respond before the deadline", async () => {
    store.mode = "hangs";
    const response = read();
    await until(() => time.waiting() === 1);
    time.advance(1999);
    time.advance(1);
    expect(await response).to.be.instanceOf(AudioStoreUnavailable);
    expect(time.waiting()).to.equal(0);
  });

  it("rejects at once with the caller's abort reason, which does not count as a store failure", async () => {
    store.mode = "hangs";
    const reason = new Error("leaves");
    for (let i = 0; i < 5; i++) {
      const controller = new AbortController();
      const response = reader.read(nameOf(1), controller.signal).catch((error: unknown) => error);
      controller.abort(reason);
      expect(await response).to.equal(reason);
    }
    expect(reader.breaker()).to.equal("closed");
  });

  it("opens the circuit after several failures in a row", async () => {
    await failThrice();
    expect(reader.breaker()).to.equal("open");
    const { length } = store.gets;
    for (let i = 0; i < 10; i++) expect(await read()).to.be.instanceOf(AudioStoreUnavailable);
    expect(store.gets).to.have.length(length);
  });

  it("lets one call through after the cooldown, while the others still fail fast", async () => {
    await failThrice();
    time.advance(5000);
    const { length } = store.gets;
    const responses = await Promise.all([read(), read(), read()]);
    expect(store.gets).to.have.length(length + 1);
    for (const response of responses) expect(response).to.be.instanceOf(AudioStoreUnavailable);
  });

  it("closes the circuit when the trial call succeeds", async () => {
    await failThrice();
    store.mode = "available";
    time.advance(5000);
    expect(soundOf(1).equals(((await read()) as AudioContent).bytes)).to.equal(true);
    expect(reader.breaker()).to.equal("closed");
    expect(soundOf(1).equals(((await read()) as AudioContent).bytes)).to.equal(true);
  });

  it("does not count failures that are separated by a success", async () => {
    for (let i = 0; i < 10; i++) {
      store.mode = i % 3 ? "refuses" : "available";
      await read();
    }
    expect(reader.breaker()).to.equal("closed");
  });
});
