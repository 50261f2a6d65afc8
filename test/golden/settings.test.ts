import { expect } from "chai";
import { readSettings, settingNames } from "../../src/settings/read-settings.ts";
import { expectGolden } from "./golden.ts";

const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const otlp = { OTEL_METRICS_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

/**
 * For each variable another value than its default, and the variables without which it changes
 * nothing.
 */
const samples: Readonly<Record<string, readonly [value: string, beside?: Readonly<Record<string, string>>]>> =
  {
    HOST: ["0.0.0.0"],
    PORT: ["9090"],
    PUBLIC_URL: ["https://speech.example/tts/"],
    DATA_DIR: ["/srv/voxledger"],
    EVENT_STORE: ["esdb://127.0.0.1:2113?tls=false"],
    STREAM_PREFIX: ["prod"],
    AUDIO_RETENTION: ["90d,50gb"],
    AUDIO_SHARING: ["none"],
    AUDIO_LEGACY_UNTIL: ["2026-12-31"],
    PURGE_URL: ["http://varnish,http://varnish-2/", { PURGE_TOKEN: "a token" }],
    PURGE_TOKEN: ["a token", { PURGE_URL: "http://varnish" }],
    AUDIO_STORE: ["s3://user:secret@127.0.0.1:9000/sounds?tls=false"],
    ADMIN_TOKEN: ["0123456789abcdef"],
    AUDITOR_TOKEN: ["alice=00112233445566778,bob=fedcba9876543210"],
    MASTER_KEY: [key(1)],
    MASTER_KEY_PREVIOUS: [`${key(2)}, ${key(3)}`],
    SEAL_KEY: [key(4)],
    SEAL_KEY_PREVIOUS: [`${key(5)}, ${key(6)}`],
    TOKEN_TTL_SECONDS: ["60"],
    GOOGLE_TTS_URL: ["http://127.0.0.1:1/google"],
    AZURE_SPEECH_URL: ["http://127.0.0.1:1/azure"],
    OPENAI_URL: ["http://127.0.0.1:1/openai"],
    OPENAI_VOICE_MAP: ["alloy=German Female, narrator=g1-en-GB-male"],
    OPENAI_MODEL_MAP: ["kokoro=g1, piper=any"],
    ENGINE_G1: ["openai:http://127.0.0.1:1/v1?model=kokoro&voices=af_bella,anahit@hy-AM:f&key=k"],
    ENGINE_G2: ["openai:http://127.0.0.1:2/v1?model=kokoro&voices=af_bella"],
    ENGINE_G3: ["openai:http://127.0.0.1:3/v1?model=kokoro&voices=af_bella"],
    ENGINE_G5: ["openai:http://127.0.0.1:5/v1?model=kokoro&voices=af_bella"],
    NATURAL_VOICES_DIR: ["/voices"],
    VOICES: ["classic"],
    VOICE_GALLERY: ["off"],
    MODELS_DIR: ["/models"],
    MODEL_THREADS: ["4"],
    MODEL_MEMORY_MB: ["512"],
    MODEL_IDLE_SECONDS: ["60"],
    MODELS_PRELOAD: ["true"],
    ALLOW_LOOPBACK_UPSTREAMS: ["true"],
    ALLOW_UPSTREAM_NETWORKS: ["10.0.0.0/8, fd00::/8"],
    PROVIDER_CONCURRENCY: ["9"],
    PROVIDER_REQUESTS_PER_MINUTE: ["301"],
    PROVIDER_CONNECT_MS: ["5001"],
    PROVIDER_FIRST_BYTE_MS: ["30001"],
    PROVIDER_TIMEOUT_MS: ["300001"],
    HEADER_PREFIX: ["Acme"],
    MAX_TEXT_CHARACTERS: ["5001"],
    BURST_WINDOW_MS: ["1001"],
    BURST_LIMIT: ["7"],
    TIME_SERVERS: ["pool.example, [::1]:1123"],
    TRUST_PROXY: ["127.0.0.1, 10.0.0.0/8"],
    CDN_NETWORKS: ["192.0.2.0/24"],
    LOG_LEVEL: ["warn"],
    MEMORY_CACHE_BYTES: ["1024"],
    STREAMS_PER_KEY: ["10"],
    UNREAD_AUDIO_BYTES: ["2048"],
    SYNTHESIS_CONCURRENCY: ["5"],
    DRAIN_SECONDS: ["31"],
    DRAIN_DELAY_SECONDS: ["1"],
    WYOMING_HOST: ["0.0.0.0", { WYOMING_PORT: "10200", WYOMING_KEY: "vlk_k.vls_s" }],
    WYOMING_PORT: ["10200", { WYOMING_KEY: "vlk_k.vls_s" }],
    WYOMING_KEY: ["vlk_k.vls_s"],
    METRICS_PORT: ["9464"],
    OTEL_SDK_DISABLED: ["true", otlp],
    OTEL_CONFIG_FILE: ["otel.yaml"],
    OTEL_EXPORTER_OTLP_ENDPOINT: ["http://127.0.0.1:4318"],
    OTEL_EXPORTER_OTLP_PROTOCOL: ["grpc", otlp],
    OTEL_TRACES_EXPORTER: ["console"],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ["http://127.0.0.1:4318"],
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ["grpc", otlp],
    OTEL_TRACES_SAMPLER: ["traceidratio", otlp],
    OTEL_TRACES_SAMPLER_ARG: ["0.25", { ...otlp, OTEL_TRACES_SAMPLER: "traceidratio" }],
    OTEL_METRICS_EXPORTER: ["otlp"],
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: ["http://127.0.0.1:4318"],
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: ["http/json", otlp],
    OTEL_METRIC_EXPORT_INTERVAL: ["60001", otlp],
    OTEL_METRIC_EXPORT_TIMEOUT: ["30001", otlp],
    WS_SOCKETS_PER_KEY: ["1001"],
    WS_STREAMS_PER_SOCKET: ["9"],
    WORKERS: ["3"],
    WS_IDLE_SECONDS: ["61"],
    WS_STALL_SECONDS: ["121"],
  };

/** Every single value of the settings as JSON, by its path. */
const leaves = (value: unknown, path = ""): [path: string, json: string][] => {
  if (value === undefined) return [];
  if (Buffer.isBuffer(value)) return [[path, value.toString("base64")]];
  const isLeaf = value === null || typeof value !== "object" || Object.keys(value).length === 0;
  if (isLeaf) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, `${path}.${name}`));
};

/** The values that differ, without the names that the program has for them: those may change. */
const differing = (some: Map<string, string>, others: Map<string, string>): string => {
  const values = [...some].filter(([path, json]) => json !== others.get(path)).map(([, json]) => json);
  return values.sort().join(", ") || "nothing";
};

const effectOf = (name: string): string => {
  const [value = "", beside = {}] = samples[name] ?? [];
  const before = new Map(leaves(readSettings({ ...beside, [name]: undefined })));
  try {
    const after = new Map(leaves(readSettings({ ...beside, [name]: value })));
    return `default ${differing(before, after)}; ${value} means ${differing(after, before)}`;
  } catch (error) {
    return `${value} is refused: ${(error as Error).name}`;
  }
};

const isRequired = (name: string): boolean => {
  const given = Object.fromEntries(Object.entries(samples).map(([each, [value]]) => [each, value]));
  try {
    readSettings({ ...given, OTEL_CONFIG_FILE: undefined, [name]: undefined });
    return false;
  } catch {
    return true;
  }
};

describe("golden files: settings", () => {
  it("each have a sample in this test", () => {
    expect(Object.keys(samples).sort()).to.deep.equal([...settingNames].sort());
  });

  it("have the recorded names, defaults and effects", () => {
    const lines = [...settingNames]
      .sort()
      .map((name) => `${name}: ${isRequired(name) ? "required" : "optional"}; ${effectOf(name)}\n`);
    expectGolden("settings.txt", lines.join(""));
  });
});
