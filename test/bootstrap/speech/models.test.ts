import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { composeModels } from "../../../src/bootstrap/speech/models.ts";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import type { SherpaRequest } from "../../../src/subprocess/sherpa.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { duringSuite } from "../../support/during.ts";
import { packNames, placePacks } from "../../support/models.ts";
import { rejection } from "../../support/rejection.ts";
import { speakByTool } from "../../support/speak-piece.ts";
import { openToolHost } from "../../support/tool-host.ts";

describe("The models of an installation without sherpa-onnx", () => {
  const host = duringSuite(() => openToolHost({ speakers: 0 }));
  const packs = duringSuite(() => placePacks("piper"));

  const compose = async (env: Record<string, string>) => {
    const warnings: string[] = [];
    const log = { warn: (message: string) => void warnings.push(message) };
    return { ...(await composeModels(readSettings(env), host, log, () => undefined)), warnings };
  };

  it("have voices, which fail with what is missing; health and the log say it too", async () => {
    const { tools, voices, checks, warnings } = await compose({
      MODELS_DIR: packs.folder,
      MODELS_PRELOAD: "true",
    });
    expect(voices.map(({ name }) => name)).to.deep.equal(["Tiny (en-US)"]);
    const missing = /^sherpa-onnx-node is not installed: /;
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(missing);
    expect(await rejection(checks[0]?.probe() ?? Promise.resolve()))
      .to.have.property("message")
      .that.match(missing);
    const request = {
      ...{ text: "hello", ssml: false, lang: "en-US", prosody: normalProsody, format: "mp3" as const },
      voice: `${packNames.piper}#0`,
    };
    expect(() => tools.get("g1")?.pieceFor(request)).to.throw(EngineFailed, missing);
  });

  it("do not exist without packs: nothing is checked or logged", async () => {
    const { tools, voices, checks, warnings } = await compose({});
    expect([tools.size, voices, checks, warnings]).to.deep.equal([0, [], [], []]);
  });
});

describe("Models that are loaded at the start", () => {
  it("include none that has failed repeatedly meanwhile: the service keeps running", async () => {
    const packs = await placePacks("piper", "kokoro");
    await writeFile(join(packs.path("kokoro"), "voices.bin"), "too short");
    const host = await openToolHost({ speakers: 0 });
    const [mayLoad, hasLoaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const gated: SubprocessHost = {
      ...host,
      speakByModel: async function* (job, signal, slotOptions) {
        const isPreload = (job.request as SherpaRequest).parts.length === 0;
        if (isPreload) await mayLoad.promise;
        yield* host.speakByModel(job, signal, slotOptions);
        if (isPreload) hasLoaded.resolve();
      },
    };
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const env = {
        ENGINE_G1: `sherpa:${packs.path("piper")},${packs.path("kokoro")}`,
        ...{ MODELS_PRELOAD: "true", MODEL_THREADS: "1" },
      };
      const { tools, checks } = await composeModels(readSettings(env), gated, { warn: () => undefined });
      const request = {
        ...{ text: "hello", ssml: false, lang: "en-US", prosody: normalProsody, format: "mp3" as const },
        voice: `${packNames.kokoro}#0`,
      };
      const tool = tools.get("g1");
      if (!tool) throw new Error("there is no model");
      const speak = () => rejection(speakByTool(host, tool, request));
      for (let round = 0; round < 3; round++) expect(await speak()).to.be.instanceOf(ToolFailed);
      expect(await speak()).to.be.instanceOf(EngineFailed);
      mayLoad.resolve();
      await hasLoaded.promise;
      await setImmediate();
      expect(unhandled).to.deep.equal([]);
      expect(await rejection(checks[0]?.probe() ?? Promise.resolve()))
        .to.have.property("message")
        .that.match(/^kokoro-tiny-en: /);
    } finally {
      process.off("unhandledRejection", note);
      await host.close();
      await packs.remove();
    }
  });
});
