import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attributes } from "@opentelemetry/api";
import { expect } from "chai";
import type { Encoder, EncoderUse } from "../../src/audio/formats/encoder.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { EngineFailed, Unavailable } from "../../src/domain/errors.ts";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { instrumentAudioStore, instrumentEncoder } from "../../src/telemetry/decorators/audio.ts";
import { instrumentEngine } from "../../src/telemetry/decorators/engines.ts";
import { createInstruments } from "../../src/telemetry/instruments.ts";
import { audioStoreContract } from "../contracts/audio-store.ts";
import { engineContract } from "../contracts/engine.ts";
import { collect } from "../support/collect.ts";
import { until } from "../support/processes.ts";
import { openToolHost } from "../support/tool-host.ts";

/* A part that is observed keeps the contract of the part. */

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), "voxledger-observed-"));
const meters = createInstruments();

audioStoreContract("observed", async () => {
  const path = await folder();
  const open = async () => instrumentAudioStore(meters)(await openFilesystemAudioStore({ path }));
  const store = await open();
  return {
    store,
    again: open,
    breakDown: async () => {
      await rm(path, { recursive: true });
      await writeFile(path, "no folder");
    },
    end: async () => {
      await store.close();
      await rm(path, { recursive: true, force: true });
    },
  };
});

engineContract("observed", async () => {
  const host = await openToolHost();
  const [engine] = await localEngines({ host });
  if (!engine) throw new Error("neither espeak-ng nor flite is installed");
  const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children.";
  return {
    engine: instrumentEngine(meters)(engine),
    request: {
      text: sentence,
      voice: "espeak:gmw/en-US+f3",
      ssml: false,
      lang: "en-US",
      prosody: normalProsody,
      format: "mp3",
    },
    longText: `${sentence} `.repeat(40),
    unspeakable: " … \n — ",
    idle: () => until("no tool runs", () => host.stats().running === 0),
    end: () => host.close(),
  };
});

describe("an instrumented encoder", () => {
  const samples = (failure?: Error) =>
    (async function* () {
      yield Buffer.alloc(2);
      if (failure) throw failure;
    })();
  const encode = async (given: AsyncIterable<Buffer>, own?: Error): Promise<readonly unknown[]> => {
    const outcomes: unknown[] = [];
    const observed = instrumentEncoder({
      ...meters,
      histogram: () => (_, attributes) => outcomes.push(attributes?.outcome),
    })({
      version: () => "none",
      encode: async function* (_format, _rate, pcm) {
        yield* pcm;
        if (own) throw own;
      },
      reserve: async () => undefined,
    });
    const { signal } = new AbortController();
    const error = await collect(observed.encode("mp3", 8_000, given, signal)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return [...outcomes, error];
  };

  const observed = (use: (observed: EncoderUse) => void): readonly unknown[] => {
    const outcomes: unknown[] = [];
    const histogram = () => (_: number, given?: Attributes) => outcomes.push(given?.outcome);
    const encoder = instrumentEncoder({ ...meters, histogram })({} as Encoder);
    const observing = encoder.observe?.("mp3", new AbortController().signal);
    if (observing) use(observing);
    return outcomes;
  };

  it("counts an encoder that an engine uses once it has samples, by the error that ended it", () => {
    const busy = new Unavailable("No encoder.", 1);
    const broken = new EngineFailed("The engine broke off.");
    const ends: ((use: EncoderUse) => void)[] = [
      (use) => use.succeeded(),
      (use) => use.failed(busy),
      (use) => use.failed(broken),
      (use) => use.ignored(),
    ];
    const all = ends.flatMap((end) =>
      observed((use) => {
        use.started(22_050);
        end(use);
        use.ignored();
      }),
    );
    expect(all).to.deep.equal(["made", "unavailable", "abandoned", "abandoned"]);
    expect(ends.flatMap((end) => observed(end))).to.deep.equal([]);
  });

  it("has made what was encoded to its end", async () => {
    expect(await encode(samples())).to.deep.equal(["made", undefined]);
  });

  it("is failed by its own errors", async () => {
    const failure = new Unavailable("No encoder.", 1);
    expect(await encode(samples(), failure)).to.deep.equal(["unavailable", failure]);
  });

  it("is not blamed for errors of the samples, which are passed on", async () => {
    const failure = new EngineFailed("The engine broke off.");
    expect(await encode(samples(failure))).to.deep.equal(["abandoned", failure]);
  });
});
