import { z } from "zod";
import { languageRange } from "../../../domain/catalog/language-match.ts";
import { engineCodes, genderNames } from "../../../domain/synthesis/speech.ts";
import { namedSchema } from "../../kernel/named-schema.ts";

/* The requests and responses about voices. Their names are those of the OpenAPI schemas. */

export const TTSService = z.enum(engineCodes).meta({ id: "TTSService" });

export const Voice = namedSchema("Voice", {
  name: z.string(),
  flag: z.string(),
  gender: z.enum(["f", "m"]),
  lang: z.string(),
  voiceIDs: z.array(z.number()),
  deprecated: z.boolean().optional(),
  isByok: z.boolean().optional(),
  provider: z.string().optional(),
});

export const SystemVoice = namedSchema("SystemVoice", {
  id: z.number(),
  name: z.string(),
  lang: z.string().optional(),
  rate: z.number().optional(),
  pitch: z.number().optional(),
  timerSpeed: z.number().optional(),
  fallbackVoice: z.boolean().optional(),
  service: TTSService.optional(),
  voiceName: z.string().optional(),
  gender: z.string().optional(),
  volume: z.number().optional(),
  deprecated: z.boolean().optional(),
});

export const HrefLink = namedSchema("HrefLink", { href: z.url() });

export const SynthesizeLink = namedSchema("SynthesizeLink", {
  href: z.url(),
  method: z.literal("POST"),
  body: z.object({ voice: z.string(), lang: z.string().optional() }),
});

export const SynthesizeStreamLink = namedSchema("SynthesizeStreamLink", {
  href: z.url(),
  method: z.literal("POST"),
  body: z.object({ voice: z.string(), lang: z.string().optional(), stream: z.boolean() }),
  accept: z.literal("text/event-stream"),
  premium: z.boolean(),
});

export const StreamWebsocketLink = namedSchema("StreamWebsocketLink", {
  href: z.url(),
  protocol: z.literal("websocket"),
  message: z.object({ type: z.string(), voice: z.string(), lang: z.string().optional() }),
  premium: z.boolean(),
});

export const VoiceLinks = namedSchema("VoiceLinks", {
  self: HrefLink,
  synthesize: SynthesizeLink,
  "synthesize:stream": SynthesizeStreamLink,
  "stream:websocket": StreamWebsocketLink,
});

export const VoiceDetailLinks = VoiceLinks.extend({ collection: HrefLink, byLanguage: HrefLink }).meta({
  id: "VoiceDetailLinks",
});

export const CollectionLinks = namedSchema("CollectionLinks", { self: HrefLink });

export const ByLanguageLinks = namedSchema("ByLanguageLinks", { self: HrefLink, allVoices: HrefLink });

export const VoiceWithLinks = Voice.extend({ _links: VoiceLinks }).meta({ id: "VoiceWithLinks" });

export const VoicesListResponse = namedSchema("VoicesListResponse", {
  voices: z.array(VoiceWithLinks),
  systemVoices: z.array(SystemVoice),
  count: z.number(),
  _links: CollectionLinks,
});

export const VoicesByLanguageResponse = namedSchema("VoicesByLanguageResponse", {
  language: z.string(),
  voices: z.array(VoiceWithLinks),
  count: z.number(),
  _links: ByLanguageLinks,
});

export const VoiceDetailResponse = namedSchema("VoiceDetailResponse", {
  voice: Voice,
  _links: VoiceDetailLinks,
});

/** Browsers report nothing longer about themselves. */
const shortText = z.string().max(100);

/** The filters of `GET /v2/voices`: the platform, language and gender. */
export const VoicesQuery = z.object({
  browser: shortText.optional(),
  browserVersion: shortText.optional(),
  os: shortText.optional(),
  osVersion: shortText.optional(),
  lang: z
    .string()
    .max(35)
    .regex(languageRange, "lang must be a BCP-47 language range.")
    .optional()
    .meta({ description: "A language range (RFC 4647): `en` includes en-GB.", examples: ["en"] }),
  gender: z
    .enum(genderNames)
    .optional()
    .meta({ examples: ["female"] }),
});

export const PlatformReport = namedSchema("PlatformReport", {
  browser: shortText,
  browserVersion: shortText,
  os: shortText,
  osVersion: shortText,
  deviceType: z.enum(["desktop", "mobile", "tablet"]).optional(),
});

export const BrowserVoiceInfo = namedSchema("BrowserVoiceInfo", {
  name: z.string().max(200),
  lang: shortText,
  voiceURI: z.string().max(1_000),
  localService: z.boolean(),
  default: z.boolean().optional(),
});

export const VoiceReportRequest = namedSchema("VoiceReportRequest", {
  platform: PlatformReport,
  voices: z.array(BrowserVoiceInfo).max(1_000),
  timestamp: shortText,
  sdkVersion: shortText.optional(),
});

export const VoiceReportResponse = namedSchema("VoiceReportResponse", {
  count: z.number(),
  voices: z.array(Voice),
  systemVoices: z.array(SystemVoice),
});
