import { expect } from "chai";
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
  const host = duringSuite(() => openSubprocessHost({ encodersAhead: { mp3: 1 } }));

  for (const voice of ["espeak:gmw/en-US+f3", "flite:slt", `sherpa:${packNames.piper}#0`]) {
    it(`is streamed before its second piece is synthesized: ${voice}`, async () => {
      const heard = Promise.withResolvers<void>();
      let pieces = 0;
      let isOpen = false;
      const gate = async function* (output: AsyncIterable<Buffer>) {
        if (isOpen && ++pieces > 1) await heard.promise;
        yield* output;
      };
      const gated: SubprocessHost = {
        ...host,
        run: (job, ...rest) => gate(host.run(job, ...rest)),
        speak: (job, ...rest) => gate(host.speak(job, ...rest)),
        speakByModel: (job, ...rest) => gate(host.speakByModel(job, ...rest)),
      };
      const engines = await localEngines({ host: gated, models: await openModels(gated, packs.folder) });
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
