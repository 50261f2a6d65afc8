import { z } from "zod";
import { languageRange } from "../../../domain/catalog/language-match.ts";
import { engineCodes, genderNames } from "../../../domain/synthesis/speech.ts";

/* The requests and responses about voices. Their names are those of the OpenAPI schemas. */

export const TTSService = z.enum(engineCodes).meta({ id: "TTSService" });

export const Voice = z
  .object({
    name: z.string(),
    flag: z.string(),
    gender: z.enum(["f", "m"]),
    lang: z.string(),
    voiceIDs: z.array(z.number()),
    deprecated: z.boolean().optional(),
    isByok: z.boolean().optional(),
    provider: z.string().optional(),
  })
  .meta({ id: "Voice" });

export const SystemVoice = z
  .object({
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
  })
  .meta({ id: "SystemVoice" });

export const HrefLink = z.object({ href: z.url() }).meta({ id: "HrefLink" });

export const SynthesizeLink = z
  .object({
    href: z.url(),
    method: z.literal("POST"),
    body: z.object({ voice: z.string(), lang: z.string().optional() }),
  })
  .meta({ id: "SynthesizeLink" });

export const SynthesizeStreamLink = z
  .object({
    href: z.url(),
    method: z.literal("POST"),
    body: z.object({ voice: z.string(), lang: z.string().optional(), stream: z.boolean() }),
    accept: z.literal("text/event-stream"),
    premium: z.boolean(),
  })
  .meta({ id: "SynthesizeStreamLink" });

export const StreamWebsocketLink = z
  .object({
    href: z.url(),
    protocol: z.literal("websocket"),
    message: z.object({ type: z.string(), voice: z.string(), lang: z.string().optional() }),
    premium: z.boolean(),
  })
  .meta({ id: "StreamWebsocketLink" });

export const VoiceLinks = z
  .object({
    self: HrefLink,
    synthesize: SynthesizeLink,
    "synthesize:stream": SynthesizeStreamLink,
    "stream:websocket": StreamWebsocketLink,
  })
  .meta({ id: "VoiceLinks" });

export const VoiceDetailLinks = VoiceLinks.extend({ collection: HrefLink, byLanguage: HrefLink }).meta({
  id: "VoiceDetailLinks",
});

export const CollectionLinks = z.object({ self: HrefLink }).meta({ id: "CollectionLinks" });

export const ByLanguageLinks = z
  .object({ self: HrefLink, allVoices: HrefLink })
  .meta({ id: "ByLanguageLinks" });

export const VoiceWithLinks = Voice.extend({ _links: VoiceLinks }).meta({ id: "VoiceWithLinks" });

export const VoicesListResponse = z
  .object({
    voices: z.array(VoiceWithLinks),
    systemVoices: z.array(SystemVoice),
    count: z.number(),
    _links: CollectionLinks,
  })
  .meta({ id: "VoicesListResponse" });

export const VoicesByLanguageResponse = z
  .object({
    language: z.string(),
    voices: z.array(VoiceWithLinks),
    count: z.number(),
    _links: ByLanguageLinks,
  })
  .meta({ id: "VoicesByLanguageResponse" });

export const VoiceDetailResponse = z
  .object({ voice: Voice, _links: VoiceDetailLinks })
  .meta({ id: "VoiceDetailResponse" });

/** Longer than anything that browsers report about themselves. */
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

export const PlatformReport = z
  .object({
    browser: shortText,
    browserVersion: shortText,
    os: shortText,
    osVersion: shortText,
    deviceType: z.enum(["desktop", "mobile", "tablet"]).optional(),
  })
  .meta({ id: "PlatformReport" });

export const BrowserVoiceInfo = z
  .object({
    name: z.string().max(200),
    lang: shortText,
    voiceURI: z.string().max(1_000),
    localService: z.boolean(),
    default: z.boolean().optional(),
  })
  .meta({ id: "BrowserVoiceInfo" });

export const VoiceReportRequest = z
  .object({
    platform: PlatformReport,
    voices: z.array(BrowserVoiceInfo).max(1_000),
    timestamp: shortText,
    sdkVersion: shortText.optional(),
  })
  .meta({ id: "VoiceReportRequest" });

export const VoiceReportResponse = z
  .object({
    count: z.number(),
    voices: z.array(Voice),
    systemVoices: z.array(SystemVoice),
  })
  .meta({ id: "VoiceReportResponse" });
