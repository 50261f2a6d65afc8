import { expect } from "chai";
import { createScheduler, type Scheduler } from "../../../src/async/scheduler/scheduler.ts";
import { ffmpegEncoder } from "../../../src/audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { openSubprocessHost, type SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { openModels } from "../../support/model-engine.ts";
import { packNames, placePacks } from "../../support/models.ts";
import { temporaryFolder } from "../../support/service.ts";

const never = new AbortController().signal;
const text = "The quick brown fox jumps over the lazy dog, and goes home. ".repeat(35);

describe("A long text of a local voice", () => {
  const folder = duringSuite(temporaryFolder);
  const packs = duringSuite(() => placePacks("piper"));

  const hosts: SubprocessHost[] = [];
  afterEach(() => Promise.all(hosts.splice(0).map((host) => host.close())));
  /** `onPiece`: before each piece waits for its slot. */
  const opened = async (onPiece: () => Promise<void>): Promise<SubprocessHost> => {
    const scheduler = createScheduler();
    const gated: Scheduler = {
      ...scheduler,
      resource: (name, options) => {
        const resource = scheduler.resource(name, options);
        const acquire = resource.acquire.bind(resource);
        if (name !== "speech_tools" && !name.startsWith("model_")) return resource;
        resource.acquire = async (...asked) => {
          await onPiece();
          return acquire(...asked);
        };
        return resource;
      },
    };
    const host = await openSubprocessHost({ encodersAhead: {}, scheduler: gated });
    hosts.push(host);
    return host;
  };

  for (const voice of ["espeak:gmw/en-US+f3", "flite:slt", `sherpa:${packNames.piper}#0`]) {
    it(`is streamed before its second piece is synthesized: ${voice}`, async () => {
      const heard = Promise.withResolvers<void>();
      let pieces = 0;
      let isOpen = false;
      const host = await opened(async () => {
        if (isOpen && ++pieces > 1) await heard.promise;
      });
      const engines = await localEngines({ host, models: await openModels(host, packs.folder) });
      isOpen = true;
      const pipeline = createPipeline({
        engines: ({ engine }) => engines.find(({ code }) => code === engine),
        encoder: ffmpegEncoder(host),
        store: await openFilesystemAudioStore({ path: folder.path }),
        cache: createMemoryCache(),
      });
      const { audio } = await pipeline.stream([renditionOf(text, { voice })], never);
      expect(pieces, "pieces requested").to.be.within(1, 2);
      heard.resolve();
      const streamed = Buffer.concat(await collect(audio));
      expect(pieces).to.be.above(5);
      const whole = await pipeline.obtain([renditionOf(text, { voice })], never);
      expect(whole.bytes.equals(streamed)).to.equal(true);
      await pipeline.drain(10_000);
    });
  }
});
