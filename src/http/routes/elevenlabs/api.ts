import type { CompatibleApi } from "../../kernel/compatible-api.ts";
import { elevenLabsEnvelope } from "./errors.ts";
import { elevenLabsModelsOperation } from "./models.ts";
import { elevenLabsSpeechOperations } from "./speech.ts";
import { elevenLabsUserOperations } from "./user.ts";
import { elevenLabsVoiceOperations } from "./voices.ts";

/** ElevenLabs' text-to-speech API. */
export const elevenLabs = {
  segment: "elevenlabs",
  tag: {
    name: "ElevenLabs",
    description:
      "ElevenLabs' text-to-speech API, for its clients. Errors are `{detail: {status, message}}`, as ElevenLabs sends them.",
  },
  errors: elevenLabsEnvelope,
  clientHeaders: /^(xi-api-key|x-fern-[a-z-]{1,40}|user-agent)$/,
  tokenHeader: {
    name: "xi-api-key",
    scheme: "elevenLabsKey",
    description: "`API_KEY.API_SECRET`, as ElevenLabs' clients send it. Only for servers.",
  },
  operations: [
    elevenLabsSpeechOperations,
    elevenLabsVoiceOperations,
    elevenLabsModelsOperation,
    elevenLabsUserOperations,
  ],
} as const satisfies CompatibleApi & { readonly operations: readonly unknown[] };
