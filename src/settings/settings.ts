import { z } from "zod";
import { isStreamPrefix } from "../eventstore/stream-prefix.ts";
import { adminTokens } from "./admin-tokens.ts";
import * as schema from "./schemas.ts";
import { telemetryVariables } from "./telemetry.ts";

/*
 * Every setting: its name, type, default and description, by group. `scripts/documents` writes
 * docs/operate/settings.md, the list in infra/env.example and the list in infra/compose.yaml from
 * this file. `fallback` describes in words a default that is not a fixed value. `isSecret`: backups
 * leave the value out.
 */

const network = {
  HOST: z.string().default("127.0.0.1").describe("The address to listen on."),
  PORT: schema.wholeNumber(0, 65_535).default(8080).describe("The port to listen on. 0 takes any free port."),
  PUBLIC_URL: schema.publicUrl.optional().meta({
    description: "The base URL of all links.",
    fallback: "the request's scheme and host",
    example: "https://speech.example.com",
  }),
  TRUST_PROXY: schema.networks
    .default([])
    .describe(
      "The networks (CIDR) of your proxies, whose `X-Forwarded-For` is trusted. Set it behind a proxy: otherwise all clients share the proxy's address and one burst limit.",
    ),
  CDN_NETWORKS: schema.networks
    .default([])
    .describe(
      "The networks (CIDR) of a CDN that fetches `/audio/…`. They count only towards the total of unread audio: see [production](production.md#a-cdn).",
    ),
  HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, "must be a header name's beginning")
    .default("SVC")
    .describe(
      "The prefix of `SVC-Cached`, `SVC-Prosody-Applied`, `SVC-Speed-Applied`, `X-SVC-Auth-Renewed` and `X-SVC-Auth-Renewed-Exp`.",
    ),
};

const stores = {
  DATA_DIR: z
    .string()
    .default("./data")
    .describe(
      "The directory of everything that has no other place set. Several processes on one machine can share it.",
    ),
  EVENT_STORE: schema.eventStore.optional().meta({
    description:
      "The event store: `sqlite:PATH`, or the connection string of EventStoreDB (KurrentDB) 23.10 or later, `esdb://user:password@host:2113` or `esdb+discover://…`.",
    fallback: "`sqlite:DATA_DIR/events.db`",
  }),
  STREAM_PREFIX: z
    .string()
    .refine(isStreamPrefix, "must be at most 32 letters, digits, hyphens and underscores")
    .default("")
    .describe(
      "Separates installations that share an event store. It is the first part of all stream names (`prod.key-…`), at most 32 letters, digits, `-` and `_`. Choose it before the first start.",
    ),
  TIME_SERVERS: schema.timeServers
    .default([])
    .describe(
      "NTP servers that confirm this machine's clock after it was set: `HOST` or `HOST:PORT`, comma-separated. See [clocks](monitoring.md#clocks).",
    ),
  AUDIO_STORE: schema.audioStore.optional().meta({
    description:
      "The audio store: `file:PATH`, or a bucket `s3://ACCESS:SECRET@HOST:PORT/BUCKET?tls=false&region=us-east-1`. See [audio in a bucket](audio.md#audio-in-a-bucket).",
    fallback: "`file:DATA_DIR/audio`",
  }),
};

const audio = {
  AUDIO_RETENTION: schema.retention.optional().meta({
    description:
      "The age, the total size, or both, beyond which unused audio is removed: `90d`, `50gb` or `90d,50gb`. The units are `h`, `d`, `mb`, `gb` and `tb`. See [keeping audio](audio.md#keeping-audio).",
    fallback: "audio is kept for ever",
  }),
  AUDIO_SHARING: z
    .enum(["all", "none"], "must be all or none")
    .default("all")
    .describe(
      "With `none`, a website gets only audio that was made for it. See [audio that websites share](audio.md#audio-that-websites-share).",
    ),
  AUDIO_LEGACY_UNTIL: schema.utcTime.optional().meta({
    description:
      "The date, or the time with its zone (`2026-12-31T12:00:00Z`), until which public audio of version 0.1 keeps its addresses. See [names](audio.md#names).",
    fallback: "it is deleted at the start",
  }),
  PURGE_URL: schema.urls
    .default([])
    .describe(
      "The base URLs, comma-separated, of the caches that forget deleted audio. Nothing is purged unless `PURGE_TOKEN` is set too. See [production](production.md#a-cdn).",
    ),
  PURGE_TOKEN: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("The bearer token of `PURGE` requests.")
    .meta({ isSecret: true }),
  MEMORY_CACHE_BYTES: schema
    .wholeNumber(0, 64 * 1024 ** 3)
    .default(64 * 1024 * 1024)
    .describe(
      "The size of the audio cache in memory. Audio larger than an eighth of it is read from the store.",
    ),
};

const access = {
  ADMIN_TOKEN: adminTokens.default([]).meta({
    isSecret: true,
    description:
      "The bearer tokens of operators: `TOKEN`, or `NAME=TOKEN,NAME=TOKEN`. A token has 16 to 256 visible ASCII characters without commas. Generate it at random. A name may have two tokens, while one of them is being replaced.",
    fallback: "the admin API is off",
  }),
  AUDITOR_TOKEN: adminTokens
    .default([])
    .describe(
      "The bearer tokens of auditors, who may read everything in the admin API and change nothing. The syntax is that of `ADMIN_TOKEN`.",
    )
    .meta({ isSecret: true }),
  MASTER_KEY: schema.masterKey.optional().meta({
    isSecret: true,
    description:
      "The key that signs tokens and encrypts credentials, 32 bytes in base64. Instances that share an event store need the same one. It is required with EventStoreDB. See [the master key](master-key.md).",
    fallback: "created in `DATA_DIR/master.key`",
  }),
  MASTER_KEY_PREVIOUS: schema.masterKeys
    .default([])
    .describe("Earlier master keys, comma-separated. See [rotating it](master-key.md#rotating-it).")
    .meta({ isSecret: true }),
  SEAL_KEY: schema.masterKey.optional().meta({
    isSecret: true,
    description:
      "The Ed25519 key that signs [seals](../audit/proof.md), 32 bytes in base64. All instances and the command line need the same one.",
    fallback: "derived from the master key",
  }),
  SEAL_KEY_PREVIOUS: schema.masterKeys
    .default([])
    .describe(
      "Earlier seal keys, comma-separated, which endorse the current one. See [the seal key](master-key.md#the-seal-key).",
    )
    .meta({ isSecret: true }),
  TOKEN_TTL_SECONDS: schema
    .wholeNumber(1, 86_400)
    .default(900)
    .describe(
      "The lifetime of a web page's token. Tokens can be refreshed for a day after other credentials issued the first one.",
    ),
};

/** The settings of limits per key and per client, which `limits/limits.ts` refers to. */
export const limitVariables = {
  BURST_WINDOW_MS: schema
    .wholeNumber(20, 60_000)
    .default(1_000)
    .describe("The sliding window of the burst limit, which is for one key and client address."),
  BURST_LIMIT: schema.wholeNumber(1, 1_000_000).optional().meta({
    description: "The requests in that window.",
    fallback: "a twentieth of the key's requests per minute, at least 20",
  }),
  STREAMS_PER_KEY: schema
    .wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe("Open streams of one key and process, over HTTP, WebSockets and Wyoming."),
  UNREAD_AUDIO_BYTES: schema
    .wholeNumber(1, 64 * 1024 ** 3)
    .default(128 * 1024 * 1024)
    .describe(
      "Audio of one key in memory that its clients have requested and not read. Further requests of the key are refused with 429 until they have.",
    ),
  WS_SOCKETS_PER_KEY: schema
    .wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe("Open WebSockets of one key and process."),
};

const limits = {
  MAX_TEXT_CHARACTERS: schema
    .wholeNumber(1, 100_000)
    .default(5000)
    .describe("The maximum length of a text, in code points."),
  ...limitVariables,
  SYNTHESIS_CONCURRENCY: schema
    .wholeNumber(1, 256)
    .default(4)
    .describe(
      "Speech tools that run at once. One of several is reserved for short texts of keys with little work.",
    ),
  WS_STREAMS_PER_SOCKET: schema
    .wholeNumber(1, 1_000)
    .default(8)
    .describe("Concurrent syntheses on one WebSocket."),
  WS_IDLE_SECONDS: schema.wholeNumber(1, 86_400).default(60).describe("The WebSocket idle timeout."),
  WS_STALL_SECONDS: schema
    .wholeNumber(1, 3_600)
    .default(120)
    .describe("The WebSocket timeout for a client that reads nothing or responds to no ping."),
};

const voices = {
  NATURAL_VOICES_DIR: z.string().optional().meta({
    description: "The folder of [natural voices](natural-voices.md), or `none`.",
    fallback: "`voices` beside the program",
  }),
  VOICES: z
    .enum(["natural", "classic"], "must be natural or classic")
    .default("natural")
    .describe(
      "The voices with which a new installation begins: `natural` or `classic`. Afterwards `voxledger voices use` changes them for all instances.",
    ),
  VOICE_GALLERY: z
    .enum(["on", "off"], "must be on or off")
    .default("on")
    .describe(
      "With `off`, `/voices` plays no samples, and the page at `/` does not list the voices. See [voices](../use/voices.md#the-gallery).",
    ),
  ENGINE_G1: schema.engine
    .optional()
    .describe(
      "What speaks for the engine `g1`: [your own speech server](premium-voices.md#your-own-speech-server), `openai:URL?model=…&voices=…&key=…`, or [models](models.md), `sherpa:PATH,PATH`.",
    )
    .meta({ isSecret: true }),
  ENGINE_G2: schema.engine.optional().describe("The same for `g2`.").meta({ isSecret: true }),
  ENGINE_G3: schema.engine.optional().describe("The same for `g3`.").meta({ isSecret: true }),
  ENGINE_G5: schema.engineServer.optional().describe("A speech server for `g5`.").meta({ isSecret: true }),
  MODELS_DIR: z
    .string()
    .optional()
    .describe("A folder of [models](models.md), whose voices are those of `g1`."),
  MODEL_THREADS: schema
    .wholeNumber(1, 64)
    .default(1)
    .describe(
      "Threads of each model. They are part of its audio's names. More threads than free cores make it slower.",
    ),
  MODEL_MEMORY_MB: schema
    .wholeNumber(64, 1_000_000)
    .default(2048)
    .describe("The memory limit of a model's process."),
  MODEL_IDLE_SECONDS: schema
    .wholeNumber(1, 2_147_483)
    .default(600)
    .describe("The time without use after which a model is unloaded."),
  MODELS_PRELOAD: schema.flag.describe(
    "With `true`, models are loaded at the start instead of at their first use.",
  ),
};

const openAiApi = {
  OPENAI_VOICE_MAP: schema.voiceMap
    .default({})
    .describe(
      "Changes and additions to the voices behind OpenAI's names: `alloy=German Female,narrator=UK English Male`. See [OpenAI's clients](../use/openai.md).",
    ),
  OPENAI_MODEL_MAP: schema.modelMap
    .default({})
    .describe(
      "Engines of OpenAI's models: `kokoro=g1,tts-1-hd=oai,piper=any`. The code of an engine chooses that engine. All other models are spoken by any engine.",
    ),
};

const providers = {
  GOOGLE_TTS_URL: schema.url
    .default("https://texttospeech.googleapis.com")
    .describe("The base URL of Google Cloud Text-to-Speech."),
  AZURE_SPEECH_URL: schema.url
    .optional()
    .meta({ description: "The base URL of Azure Speech.", fallback: "that of the region" }),
  OPENAI_URL: schema.url.default("https://api.openai.com").describe("The base URL of OpenAI."),
  ALLOW_LOOPBACK_UPSTREAMS: schema.flag.describe(
    "With `true`, websites' credentials and webhooks may name servers on this machine.",
  ),
  ALLOW_UPSTREAM_NETWORKS: schema.networks
    .default([])
    .describe(
      "Private networks (CIDR) in which websites' credentials and webhooks may name servers, by https: `10.0.0.0/8,fd00::/8`. See [servers in private networks](premium-voices.md#servers-in-private-networks).",
    ),
  PROVIDER_CONCURRENCY: schema
    .wholeNumber(1, 256)
    .default(8)
    .describe(
      "Concurrent requests to a provider for one set of credentials. As many further responses may wait for listeners that have read nothing for 5 s. Beyond that the one that has waited longest is aborted.",
    ),
  PROVIDER_REQUESTS_PER_MINUTE: schema
    .wholeNumber(1, 100_000)
    .default(300)
    .describe("Requests to a provider for one set of credentials in any 60 seconds."),
  PROVIDER_CONNECT_MS: schema.wholeNumber(1, 600_000).default(5_000).describe("The connection timeout."),
  PROVIDER_FIRST_BYTE_MS: schema
    .wholeNumber(1, 600_000)
    .default(30_000)
    .describe("The maximum silence of a provider, before or within a response."),
  PROVIDER_TIMEOUT_MS: schema
    .wholeNumber(1, 3_600_000)
    .default(300_000)
    .describe("The maximum total time of waiting for a provider in one request."),
};

const wyoming = {
  WYOMING_PORT: schema.wholeNumber(0, 65_535).optional().meta({
    description: "The port for [Home Assistant](../use/home-assistant.md).",
    fallback: "off",
  }),
  WYOMING_HOST: z
    .string()
    .default("127.0.0.1")
    .describe("The address to listen on for it, whatever `HOST` is."),
  WYOMING_KEY: schema.wyomingKey
    .optional()
    .describe(
      "The key and secret that are charged for it, `vlk_….vls_…`. They are required with `WYOMING_PORT`.",
    )
    .meta({ isSecret: true }),
};

const processes = {
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe(
      "The least severe level that is logged. Requests served from memory and successful health checks are logged at `debug`.",
    ),
  METRICS_PORT: schema.wholeNumber(0, 65_535).optional().meta({
    description: "The port of `/metrics` for Prometheus, on `HOST`. See [metrics](monitoring.md#metrics).",
    fallback: "off",
  }),
  WORKERS: schema.workers.default(1).meta({
    description:
      "The number of processes that serve requests, or `auto`: one for each processor. See [several processes](production.md#several-processes).",
    example: "auto",
  }),
  DRAIN_DELAY_SECONDS: schema
    .wholeNumber(0, 3_600)
    .default(0)
    .describe(
      "The time after SIGTERM in which connections are still accepted and `/health/ready` says `draining`, for load balancers.",
    ),
  DRAIN_SECONDS: schema
    .wholeNumber(0, 3_600)
    .default(30)
    .describe("The maximum time for requests in progress at shutdown."),
};

export const settingGroups: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  Network: network,
  Stores: stores,
  Audio: audio,
  "Access and keys": access,
  Limits: limits,
  Voices: voices,
  "OpenAI's API": openAiApi,
  Providers: providers,
  "Home Assistant": wyoming,
  "Process, log and metrics": processes,
  OpenTelemetry: telemetryVariables,
};

export const environment = z.object({
  ...network,
  ...stores,
  ...audio,
  ...access,
  ...limits,
  ...voices,
  ...openAiApi,
  ...providers,
  ...wyoming,
  ...processes,
  ...telemetryVariables,
});
