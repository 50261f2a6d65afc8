import { z } from "zod";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import type { AudioFormat } from "../../../domain/synthesis/formats.ts";
import { type EngineCode, engineCodes, type TextFormat } from "../../../domain/synthesis/speech.ts";
import { decimal } from "../query-values.ts";
import { defaultLang, spokenText, textFormat } from "../synthesis/request.ts";
import { defaultVoice } from "./voice-map.ts";

/**
 * The models of OpenAI that clients ask for. They are not the names of engines: the voice decides
 * which engine speaks.
 */
export const defaultModels = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"] as const;

/** The engines that the operator has chosen for models. */
export type ModelMap = Readonly<Record<string, EngineCode | "any">>;

export const responseFormats = [
  "mp3",
  "opus",
  "aac",
  "flac",
  "wav",
  "pcm",
] as const satisfies readonly AudioFormat[];

/** Every engine can speak at every speed in this range; OpenAI's range is from 0.25 to 4. */
const speeds = { slowest: 0.5, fastest: 2 };

const factor = z.number().min(0.25).max(4);
const speed = z.union([factor, z.string().transform(decimal).pipe(factor)], {
  error: "speed must be a number from 0.25 to 4.",
});

/** OpenAI's own limit. */
const maxInstructionCharacters = 4096;

const voiceName = z.string().min(1).max(200);

const voiceParameter = z.union([voiceName, z.object({ id: voiceName })], {
  error: "voice must be the name of a voice, or an object with its name as id.",
});

/** Clients send `null` for members that they leave open. */
const orDefault = <S extends z.ZodType>(schema: S, value: z.output<S>, meta: object) =>
  schema
    .nullish()
    .meta({ default: value, ...meta })
    .transform((given) => given ?? value);

/** Unknown members are ignored. */
export const speechRequest = (maxCharacters: number) =>
  z
    .object({
      input: spokenText(maxCharacters, "input"),
      text_format: textFormat.nullish(),
      model: z
        .string({ error: "model is required." })
        .min(1)
        .max(200)
        .meta({
          description:
            "The code of an engine chooses that engine alone. Other models speak with any engine that has the voice, unless the operator has mapped them to one. Without `voice` it may name the voice.",
          examples: ["tts-1"],
        }),
      voice: voiceParameter.nullish().meta({
        default: defaultVoice,
        description:
          "A voice by any of its names, ignoring case, or one of OpenAI's, which the operator maps to voices. OpenAI's voices speak the language of the text, unless the operator has mapped them.",
        examples: ["alloy"],
      }),
      response_format: orDefault(z.enum(responseFormats), "mp3", {
        description: "`pcm` has 24,000 samples a second, 16 bits each, one channel.",
        examples: ["mp3"],
      }),
      speed: orDefault(speed, 1, {
        description:
          "1 is normal. Also as a decimal in a string. Voices speak at 0.5 to 2; a header says which speed was applied.",
        examples: [1.2],
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
      stream_format: orDefault(z.enum(["audio", "sse"]), "audio", {
        description: "The bytes of the audio, or server-sent events.",
        examples: ["audio"],
      }),
    })
    .meta({ id: "OpenAiSpeechRequest" });

export type SpeechRequest = z.output<ReturnType<typeof speechRequest>>;

/** Finds the engine that a model chooses; undefined if it chooses none. */
export const engineOfModel = (model: string, models: ModelMap): EngineCode | undefined => {
  const mapped = Object.hasOwn(models, model) ? models[model] : undefined;
  if (mapped !== undefined) return mapped === "any" ? undefined : mapped;
  return engineCodes.find((code) => code === model);
};

/** The requested voice, as the client names it. */
export const requestedVoice = ({ voice }: SpeechRequest): string | undefined =>
  typeof voice === "object" ? voice?.id : voice;

/** The speed at which the request is spoken if the voice takes a rate. */
export const appliedSpeed = ({ speed }: SpeechRequest): number =>
  Math.min(Math.max(speed, speeds.slowest), speeds.fastest);

/** The voice of a request, by a name of the catalog, or by language and gender. */
export type ChosenVoice = Pick<SynthesisRequest, "name" | "lang" | "gender" | "engine">;

/** The request in the service's own terms. */
export const toSynthesisRequest = (
  request: SpeechRequest,
  voice: ChosenVoice,
  textFormat: TextFormat | undefined,
): SynthesisRequest => ({
  text: request.input,
  textFormat,
  lang: defaultLang,
  ...voice,
  prosody: { pitch: 1, rate: appliedSpeed(request), volume: 1 },
  format: request.response_format,
  anyFormat: true,
  instructions: request.instructions ?? undefined,
});
