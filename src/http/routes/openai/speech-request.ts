import { z } from "zod";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import type { AudioFormat } from "../../../domain/synthesis/formats.ts";
import type { EngineCode } from "../../../domain/synthesis/speech.ts";
import { defaultLang, engineNamed, spokenText } from "../synthesis/request.ts";

/** The models of OpenAI that clients ask for. They have the names of no engine: the voice decides on it. */
export const defaultModels = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"] as const;

const datedModel = /^gpt-4o-mini-tts-\d{4}-\d{2}-\d{2}$/;

export const responseFormats = [
  "mp3",
  "opus",
  "aac",
  "flac",
  "wav",
  "pcm",
] as const satisfies readonly AudioFormat[];

/** Every engine speaks at these speeds; OpenAI's range is from 0.25 to 4. */
const speeds = { slowest: 0.5, fastest: 2 };

/** OpenAI's own limit. */
const maxInstructionCharacters = 4096;

const voiceName = z.string().min(1).max(200);

const voiceParameter = z.union([voiceName, z.object({ id: voiceName })], {
  error: "voice must be the name of a voice, or an object with its name as id.",
});

/** Unknown members are ignored. */
export const speechRequest = (maxCharacters: number) =>
  z
    .object({
      input: spokenText(maxCharacters, "input"),
      model: z
        .string({ error: "model is required." })
        .min(1)
        .max(200)
        .meta({
          description:
            "`tts-1`, `tts-1-hd` and `gpt-4o-mini-tts` speak with any engine that has the voice. The code of an engine chooses that engine alone.",
          examples: ["tts-1"],
        }),
      voice: voiceParameter.meta({
        description:
          "A voice by any of its names, ignoring case if there is no exact match, or one of OpenAI's, which the operator maps to voices.",
        examples: ["alloy"],
      }),
      response_format: z
        .enum(responseFormats)
        .default("mp3")
        .meta({
          description: "`pcm` has 24,000 samples a second, 16 bits each, one channel.",
          examples: ["mp3"],
        }),
      speed: z.number().min(0.25).max(4).default(1).meta({
        description: "1 is normal. Voices speak at 0.5 to 2; a header says which speed was applied.",
      }),
      instructions: z
        .string()
        .max(maxInstructionCharacters)
        .nullish()
        .meta({
          description:
            "How to speak, in words. Followed by a website's own OpenAI voices, except those of `tts-1` and `tts-1-hd`; ignored by others.",
          examples: ["Speak calmly."],
        }),
      stream_format: z
        .enum(["audio", "sse"])
        .default("audio")
        .meta({ description: "The bytes of the audio, or server-sent events.", examples: ["audio"] }),
    })
    .meta({ id: "OpenAiSpeechRequest" });

export type SpeechRequest = z.output<ReturnType<typeof speechRequest>>;

/** The engine that a model chooses; undefined for any. @throws {NotFound} */
export const engineOfModel = (model: string): EngineCode | undefined => {
  if (defaultModels.some((known) => known === model) || datedModel.test(model)) return undefined;
  return engineNamed(model, defaultModels.join(", "));
};

/** The requested voice, as the client names it. */
export const requestedVoice = ({ voice }: SpeechRequest): string =>
  typeof voice === "string" ? voice : voice.id;

/** The speed at which a voice that takes a rate speaks the request. */
export const appliedSpeed = ({ speed }: SpeechRequest): number =>
  Math.min(Math.max(speed, speeds.slowest), speeds.fastest);

/** The request in the service's own terms. `voice`: a name of the catalog. @throws {NotFound} for an unknown model */
export const toSynthesisRequest = (request: SpeechRequest, voice: string): SynthesisRequest => ({
  text: request.input,
  name: voice,
  lang: defaultLang,
  engine: engineOfModel(request.model),
  prosody: { pitch: 1, rate: appliedSpeed(request), volume: 1 },
  format: request.response_format,
  anyFormat: true,
  instructions: request.instructions ?? undefined,
});
