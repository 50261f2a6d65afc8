import {
  boolean,
  type Checked,
  code,
  count,
  listOf,
  type MembersOf,
  number,
  object,
  optional,
  text,
  utcTime,
} from "../shape.ts";
import type { EngineCode, ShortGender, SystemVoice, Voice } from "../synthesis/speech.ts";
import type { VoiceChoice } from "./natural-voices.ts";

const at = utcTime;

const voice = object({
  name: text,
  flag: text,
  gender: code<ShortGender>(),
  lang: text,
  voiceIDs: listOf(count),
  deprecated: optional(boolean),
  isByok: optional(boolean),
  provider: optional(text),
} satisfies MembersOf<Voice>);

const systemVoice = object({
  id: count,
  name: text,
  lang: optional(text),
  rate: optional(number),
  pitch: optional(number),
  volume: optional(number),
  timerSpeed: optional(number),
  fallbackVoice: optional(boolean),
  service: optional(code<EngineCode>()),
  voiceName: optional(text),
  gender: optional(code<ShortGender>()),
  deprecated: optional(boolean),
} satisfies MembersOf<SystemVoice>);

export const catalogShapes = {
  SystemVoiceAdded: { systemVoice, at },
  SystemVoiceDeprecated: { id: count, at },
  VoiceAdded: { voice, at },
  /** The complete new voice, under its old name. */
  VoiceChanged: { voice, at },
  VoiceDeprecated: { name: text, at },
  /** The natural voices that speak from now on, by `voiceName`: none if the choice is `classic`. */
  VoicesChosen: { choice: code<VoiceChoice>(), voices: listOf(text), at },
};

const reportedVoice = object({
  /** The voice's own name (`ownName`). */
  name: text,
  /** BCP-47, canonical. */
  lang: text,
  /** True if the voice speaks without the network. */
  localService: boolean,
});
export type ReportedVoice = Checked<typeof reportedVoice>;

export const platformShapes = {
  /** Voices that were unknown there, or known only for later versions. */
  VoicesReported: { browserVersion: count, osVersion: count, voices: listOf(reportedVoice), at },
};
