import type { Command } from "commander";
import { fields, table } from "../columns.ts";
import { printing } from "../command.ts";

/** The result of a check of a pack. */
export interface CheckedModel {
  readonly name: string;
  readonly kind: string;
  readonly digest: string;
  readonly library: string;
  readonly threads: number;
  readonly voices: readonly {
    readonly name: string;
    readonly lang: string;
    readonly gender: string;
    readonly voiceName: string;
  }[];
  readonly loadMs: number;
  /** Measured with the first voice. */
  readonly speech: {
    readonly seconds: number;
    readonly sampleRate: number;
    /**
     * The time of the synthesis divided by the duration of the audio. Below 1, it is faster than
     * speech.
     */
    readonly realTimeFactor: number;
    /** True if a second synthesis had the same bytes. */
    readonly isReproducible: boolean;
  };
}

/** @throws {Error} if something is wrong with the pack */
export type CheckModel = (path: string) => Promise<CheckedModel>;

/** Adds the command `models`. */
export const registerModelCommands = (program: Command, checkModel: CheckModel): void => {
  program
    .command("models")
    .description("models for natural voices on this machine")
    .command("check <path>")
    .description("load the model in this folder, speak with it, and print its voices")
    .action(printing(modelText, (path: string) => checkModel(path)));
};

const modelText = ({ name, kind, digest, library, threads, voices, loadMs, speech }: CheckedModel): string =>
  [
    fields({
      model: `${name} (${kind})`,
      digest,
      library: `sherpa-onnx ${library}, ${threads} threads`,
      loaded: `in ${(loadMs / 1_000).toFixed(1)} s`,
      spoken: `${speech.seconds.toFixed(1)} s of speech at ${speech.sampleRate} Hz, real-time factor ${speech.realTimeFactor.toFixed(3)}`,
      bytes: speech.isReproducible ? "the same each time" : "different each time: the first sound is kept",
    }),
    "",
    table(
      ["voice", "lang", "gender", "name for the engine"],
      voices.map((voice) => [voice.name, voice.lang, voice.gender, voice.voiceName]),
      "none",
    ),
  ].join("\n");
