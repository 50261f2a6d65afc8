import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/local-engine.ts";
import { openSubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { type CaredAccount, caredProviders } from "../../engines/resilience/resilient-providers.ts";
import { collect } from "../../support/collect.ts";
import { createManualClock, type ManualClock, until } from "../../support/manual-clock.ts";
import { closedGate } from "../../support/wire/gate.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";
import { type FickleStore, fickle } from "./fickle-store.ts";
import { openRealParts, type RealParts } from "./real-parts.ts";
import { takeOf } from "./renditions.ts";

const never = new AbortController().signal;

/** An instance that asks its provider one thing at a time. */
interface Instance {
  readonly pipeline: Pipeline;
  readonly account: CaredAccount;
  readonly clock: ManualClock;
  readonly store: FickleStore;
}

describe("a sound that another instance makes while this one waits for its turn", () => {
  let real: RealParts;
  before(async () => {
    real = await openRealParts();
  });
  after(() => real.close());

  for (const provider of caredProviders) {
    describe(`at ${provider.code}`, () => {
      let folder: string;
      let upstream: WireServer;
      let here: Instance;
      let elsewhere: Instance;

      const open = async (): Promise<Instance> => {
        const store = fickle(await openFilesystemAudioStore({ path: folder }));
        const account = provider.open(upstream.url, { concurrency: 1 });
        const clock = createManualClock();
        const pipeline = createPipeline({
          engines: () => account.engine,
          encoder: real.encoder,
          store,
          cache: createMemoryCache(),
          clock,
        });
        return { pipeline, account, clock, store };
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
        takeOf(text, { engine: provider.code, voice: provider.voice, websiteId: "w-1" });
      const [first, wanted] = [said("This comes first."), said("Both want this. ".repeat(20))];

      /** Begins to make something that holds the only turn here, until the gate opens. */
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
        here.clock.advance(100);
        return sound;
      };
      const inLine = () => until(() => here.account.waiting() === 1);

      it("is taken from the store when the turn comes, and paid for once", async () => {
        const { gate, held } = await holdTheTurn();
        const waiting = here.pipeline.obtain([wanted], never);
        await inLine();
        const made = await makeElsewhere();
        gate.open();
        const found = await waiting;
        expect([made.provenance, found.provenance]).to.deep.equal(["miss", "store"]);
        expect(found.bytes.equals(made.bytes)).to.equal(true);
        await held;
        expect(upstream.requests).to.have.length(2);
        expect(here.pipeline.fromMemory(wanted)?.bytes.equals(made.bytes)).to.equal(true);
        const next = await here.pipeline.obtain([said("The turn is free.")], never);
        expect(next.provenance).to.equal("miss");
      });

      it("is heard from the store, piece by piece, by who wanted it as a stream", async () => {
        const { gate, held } = await holdTheTurn();
        const waiting = here.pipeline.stream([wanted], never);
        await inLine();
        const made = await makeElsewhere();
        gate.open();
        const { provenance, audio } = await waiting;
        expect(provenance).to.equal("store");
        const heard = await collect(audio);
        expect(Buffer.concat(heard).equals(made.bytes)).to.equal(true);
        expect(heard.length).to.be.greaterThan(1);
        expect(Math.max(...heard.map(({ length }) => length))).to.be.at.most(64 * 1024);
        await held;
        expect(upstream.requests).to.have.length(2);
      });

      it("is made here as well when the store cannot tell", async () => {
        const { gate, held } = await holdTheTurn();
        const waiting = here.pipeline.obtain([wanted], never);
        await inLine();
        await makeElsewhere();
        here.store.mood = "refuses";
        gate.open();
        expect((await waiting).provenance).to.equal("miss");
        await held;
        expect(upstream.requests).to.have.length(3);
        here.store.mood = "well";
      });
    });
  }

  it("leaves a local tool's slot free, and the tool unasked", async () => {
    const host = await openSubprocessHost({ concurrency: 1, encodersAhead: { mp3: 0, ogg: 0 } });
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
