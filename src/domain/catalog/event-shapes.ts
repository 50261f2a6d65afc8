import { boolean, count, listOf, number, object, optional, type ShapesOf, text, utcTime } from "../shape.ts";
import type { SystemVoice, Voice } from "../synthesis/speech.ts";
import type { CatalogEvent } from "./catalog.ts";
import type { PlatformEvent, ReportedVoice } from "./platform.ts";

const at = utcTime;
const reportedVoice = object<ReportedVoice>({ name: text, lang: text, localService: boolean });

const voice = object<Voice>({
  name: text,
  flag: text,
  gender: text,
  lang: text,
  voiceIDs: listOf(count),
  deprecated: optional(boolean),
  isByok: optional(boolean),
  provider: optional(text),
});

const systemVoice = object<SystemVoice>({
  id: count,
  name: text,
  lang: optional(text),
  rate: optional(number),
  pitch: optional(number),
  volume: optional(number),
  timerSpeed: optional(number),
  fallbackVoice: optional(boolean),
  service: optional(text),
  voiceName: optional(text),
  gender: optional(text),
  deprecated: optional(boolean),
});

export const catalogShapes: ShapesOf<CatalogEvent> = {
  SystemVoiceAdded: { systemVoice, at },
  SystemVoiceDeprecated: { id: count, at },
  VoiceAdded: { voice, at },
  VoiceChanged: { voice, at },
  VoiceDeprecated: { name: text, at },
};

export const platformShapes: ShapesOf<PlatformEvent> = {
  VoicesReported: { browserVersion: count, osVersion: count, voices: listOf(reportedVoice), at },
};
