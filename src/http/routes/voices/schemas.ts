import { z } from "zod";
import { languageRange } from "../../../domain/catalog/language-match.ts";
import { engineCodes, genderNames } from "../../../domain/synthesis/speech.ts";

/* What the voice endpoints answer with and take, under the names of the description. */

export const TTSService = z.enum(engineCodes);

export const Voice = z.object({
  name: z.string(),
  flag: z.string(),
  gender: z.enum(["f", "m"]),
  lang: z.string(),
  voiceIDs: z.array(z.number()),
  deprecated: z.boolean().optional(),
  isByok: z.boolean().optional(),
  provider: z.string().optional(),
});

export const SystemVoice = z.object({
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

export const HrefLink = z.object({ href: z.url() });

export const SynthesizeLink = z.object({
  href: z.url(),
  method: z.literal("POST"),
  body: z.object({ voice: z.string(), lang: z.string().optional() }),
});

export const SynthesizeStreamLink = z.object({
  href: z.url(),
  method: z.literal("POST"),
  body: z.object({ voice: z.string(), lang: z.string().optional(), stream: z.boolean() }),
  accept: z.literal("text/event-stream"),
  premium: z.boolean(),
});

export const StreamWebsocketLink = z.object({
  href: z.url(),
  protocol: z.literal("websocket"),
  message: z.object({ type: z.string(), voice: z.string(), lang: z.string().optional() }),
  premium: z.boolean(),
});

export const VoiceLinks = z.object({
  self: HrefLink,
  synthesize: SynthesizeLink,
  "synthesize:stream": SynthesizeStreamLink,
  "stream:websocket": StreamWebsocketLink,
});

export const VoiceDetailLinks = VoiceLinks.extend({ collection: HrefLink, byLanguage: HrefLink });

export const CollectionLinks = z.object({ self: HrefLink });

export const ByLanguageLinks = z.object({ self: HrefLink, allVoices: HrefLink });

export const VoiceWithLinks = Voice.extend({ _links: VoiceLinks });

export const VoicesListResponse = z.object({
  voices: z.array(VoiceWithLinks),
  systemVoices: z.array(SystemVoice),
  count: z.number(),
  _links: CollectionLinks,
});

export const VoicesByLanguageResponse = z.object({
  language: z.string(),
  voices: z.array(VoiceWithLinks),
  count: z.number(),
  _links: ByLanguageLinks,
});

export const VoiceDetailResponse = z.object({ voice: Voice, _links: VoiceDetailLinks });

/** Far beyond what browsers say of themselves. */
const said = z.string().max(100);

/** The query of `GET /v2/voices`: the platform that the voices are for, and their language and gender. */
export const VoicesQuery = z.object({
  browser: said.optional(),
  browserVersion: said.optional(),
  os: said.optional(),
  osVersion: said.optional(),
  lang: z
    .string()
    .max(35)
    .regex(languageRange, "lang must be a BCP-47 language range.")
    .optional()
    .meta({ description: "A language range (RFC 4647): `en` also means en-GB.", examples: ["en"] }),
  gender: z
    .enum(genderNames)
    .optional()
    .meta({ examples: ["female"] }),
});

export const PlatformReport = z.object({
  browser: said,
  browserVersion: said,
  os: said,
  osVersion: said,
  deviceType: z.enum(["desktop", "mobile", "tablet"]).optional(),
});

export const BrowserVoiceInfo = z.object({
  name: z.string().max(200),
  lang: said,
  voiceURI: z.string().max(1_000),
  localService: z.boolean(),
  default: z.boolean().optional(),
});

export const VoiceReportRequest = z.object({
  platform: PlatformReport,
  voices: z.array(BrowserVoiceInfo).max(1_000),
  timestamp: said,
  sdkVersion: said.optional(),
});

export const VoiceReportResponse = z.object({
  count: z.number(),
  voices: z.array(Voice),
  systemVoices: z.array(SystemVoice),
});
