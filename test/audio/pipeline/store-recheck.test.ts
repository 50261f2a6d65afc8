import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { type ResilientAccount, resilientProviders } from "../../engines/resilience/resilient-providers.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { openToolHost } from "../../support/tool-host.ts";
import { closedGate } from "../../support/wire/gate.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { openRealTools } from "./real-tools.ts";
import { renditionOf } from "./renditions.ts";

const never = new AbortController().signal;

/** An instance with one concurrent provider call. */
interface Instance {
  readonly pipeline: Pipeline;
  readonly account: ResilientAccount;
  readonly time: ManualTime;
  readonly store: FaultyStore;
}

describe("Audio that another instance synthesizes while this one waits for a slot", () => {
  const real = duringSuite(openRealTools);

  for (const provider of resilientProviders) {
    describe(`at ${provider.code}`, () => {
      let folder: string;
      let upstream: WireServer;
      let here: Instance;
      let elsewhere: Instance;

      const open = async (): Promise<Instance> => {
        const store = withFaults(await openFilesystemAudioStore({ path: folder }));
        const account = provider.open(upstream.url, { concurrency: 1 });
        const time = createManualTime();
        const pipeline = createPipeline({
          engines: () => account.engine,
          encoder: real.encoder,
          store,
          cache: createMemoryCache(),
          time,
        });
        return { pipeline, account, time, store };
      };
      beforeEach(async () => {
        folder = await mkdtemp(join(tmpdir(), "voxledger-second-look-"));
        upstream = await provider.serve();
        [here, elsewhere] = [await open(), await open()];
      });
      afterEach(async () => {
        await Promise.all([here, elsewhere].map(({ pipeline }) => pipeline.drain(1)));
        await upstream.close();
        await rm(folder, { recursive: true });
      });

      const said = (text: string) =>
        renditionOf(text, { engine: provider.code, voice: provider.voice, websiteId: "w-1" });
      const [first, wanted] = [said("This comes first."), said("Both want this. ".repeat(20))];

      /** Starts a synthesis that occupies the only slot until the gate opens. */
      const holdTheTurn = async () => {
        const gate = closedGate();
        upstream.faults.next({ kind: "slow", gate });
        const held = here.pipeline.obtain([first], never);
        await upstream.seen(1);
        return { gate, held };
      };
      const makeElsewhere = async () => {
        const sound = await elsewhere.pipeline.obtain([wanted], never);
        await until(() => elsewhere.pipeline.stats().writes.pendingObjects === 0);
        here.time.advance(100);
        return sound;
      };
      const inLine = () => until(() => here.account.waiting() === 1);

      it("is read from the store when the slot is free, and paid for once", async () => {
        const { gate, held } = await holdTheTurn();
        const waiting = here.pipeline.obtain([wanted], never);
        await inLine();
        const made = await makeElsewhere();
        gate.open();
        const found = await waiting;
        expect([made.source, found.source]).to.deep.equal(["miss", "store"]);
        expect(found.bytes.equals(made.bytes)).to.equal(true);
        await held;
        expect(upstream.requests).to.have.length(2);
        expect(here.pipeline.fromMemory(wanted)?.bytes.equals(made.bytes)).to.equal(true);
        const next = await here.pipeline.obtain([said("The turn is free.")], never);
        expect(next.source).to.equal("miss");
      });

      it("is streamed from the store in chunks to a streaming caller", async () => {
        const { gate, held } = await holdTheTurn();
        const waiting = here.pipeline.stream([wanted], never);
        await inLine();
        const made = await makeElsewhere();
        gate.open();
        const { source, audio } = await waiting;
        expect(source).to.equal("store");
        const received = await collect(audio);
        expect(Buffer.concat(received).equals(made.bytes)).to.equal(true);
        expect(received.length).to.be.greaterThan(1);
        expect(Math.max(...received.map(({ length }) => length))).to.be.at.most(64 * 1024);
        await held;
        expect(upstream.requests).to.have.length(2);
      });

      it("is synthesized here as well when the store cannot be read", async () => {
        const { gate, held } = await holdTheTurn();
        const waiting = here.pipeline.obtain([wanted], never);
        await inLine();
        await makeElsewhere();
        here.store.mode = "refuses";
        gate.open();
        expect((await waiting).source).to.equal("miss");
        await held;
        expect(upstream.requests).to.have.length(3);
        here.store.mode = "available";
      });
    });
  }

  it("does not use a local tool's slot or start the tool", async () => {
    const host = await openToolHost({ concurrency: 1 });
    const [engine] = (await localEngines({ host })) as [Engine];
    const request = {
      ...{ text: "Hello.", ssml: false, voice: "espeak:gmw/en", lang: "en" },
      format: "mp3" as const,
    };
    const prosody = { pitch: 1, rate: 1, volume: 1 };
    const reason = new Error("made elsewhere");
    const beforeStart = () => Promise.reject(reason);
    const say = async (more: { beforeStart?: () => Promise<void> }) =>
      collect((await engine.synthesize({ ...request, prosody, ...more }, never)).audio);
    expect(await say({ beforeStart }).catch((error: unknown) => error)).to.equal(reason);
    expect(host.stats().running).to.equal(0);
    expect(await say({})).not.to.have.length(0);
    await host.close();
  });
});
