import type { Operation } from "../../kernel/operation.ts";
import { type ModelOptions, modelsOperation } from "./models.ts";
import { type SpeechOptions, speechOperations } from "./speech.ts";
import { userOperations } from "./user.ts";
import { voiceOperations } from "./voices.ts";

/** ElevenLabs' text-to-speech API. Its clients are used with the base URL `…/elevenlabs`. */
export const elevenLabsOperations = (
  options: SpeechOptions &
    ModelOptions &
    Parameters<typeof voiceOperations>[0] &
    Parameters<typeof userOperations>[0],
): Operation[] => [
  ...speechOperations(options),
  ...voiceOperations(options),
  modelsOperation(options),
  ...userOperations(options),
];
