/*
 * Every metric that the service tells. Names and units are OpenTelemetry's way of writing them; Prometheus reads
 * `prometheusName` of each (`http_server_request_duration_seconds`, `voxledger_synthesis_answers_total`), both at /metrics
 * and through a collector. No attribute holds what a caller can choose freely: no key, no text, no voice.
 */

export interface Metric {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  /** UCUM, as OpenTelemetry writes units: `s`, `By`, or what is counted in braces. */
  readonly unit: string;
  readonly description: string;
  readonly attributes?: readonly string[];
  /** Of a histogram: the upper bounds of its buckets, in the unit. */
  readonly bounds?: readonly number[];
}

/** OpenTelemetry's own for HTTP, with more room at the fast end: most answers come from memory. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const workSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const storeSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30];
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export const metricDefinitions = {
  requests: {
    name: "http.server.request.duration",
    kind: "histogram",
    unit: "s",
    description: "Requests by route and status, from their first to their last byte.",
    attributes: ["http.request.method", "http.route", "http.response.status_code"],
    bounds: requestSeconds,
  },
  refusals: {
    name: "voxledger.refusals",
    kind: "counter",
    unit: "{refusal}",
    description: "Callers refused: unauthorized, failures (too many of these), burst, minute, quota.",
    attributes: ["reason"],
  },
  sockets: {
    name: "voxledger.websocket.connections",
    kind: "gauge",
    unit: "{connection}",
    description: "WebSockets that are open.",
  },

  answers: {
    name: "voxledger.synthesis.answers",
    kind: "counter",
    unit: "{answer}",
    description:
      "Answers with audio that the ledger holds, by where it came from: miss, coalesced, memory, store.",
    attributes: ["provenance", "engine", "delivery"],
  },
  characters: {
    name: "voxledger.synthesis.characters",
    kind: "counter",
    unit: "{character}",
    description: "Characters of those answers, as the ledger counts them.",
    attributes: ["engine"],
  },
  voided: {
    name: "voxledger.synthesis.voided",
    kind: "counter",
    unit: "{answer}",
    description: "Servings taken back because no audio was delivered.",
    attributes: ["engine"],
  },
  voidedCharacters: {
    name: "voxledger.synthesis.voided_characters",
    kind: "counter",
    unit: "{character}",
    description: "Characters given back with those servings.",
    attributes: ["engine"],
  },
  unsettled: {
    name: "voxledger.synthesis.unsettled",
    kind: "gauge",
    unit: "{request}",
    description: "Requests without audio that the ledger may still have to take back.",
  },
  makings: {
    name: "voxledger.synthesis.under_way",
    kind: "gauge",
    unit: "{sound}",
    description: "Sounds that are being made.",
  },
  streamsEnded: {
    name: "voxledger.stream.ended",
    kind: "counter",
    unit: "{stream}",
    description: "Streams by how they ended: whole, left, failed.",
    attributes: ["outcome"],
  },
  streamsOpen: {
    name: "voxledger.stream.open",
    kind: "gauge",
    unit: "{stream}",
    description: "Streams under way.",
  },

  engineDuration: {
    name: "voxledger.engine.duration",
    kind: "histogram",
    unit: "s",
    description:
      "Syntheses of an engine until their last byte, by outcome: made, failed, unavailable, abandoned.",
    attributes: ["engine", "outcome"],
    bounds: workSeconds,
  },
  engineFirstByte: {
    name: "voxledger.engine.first_byte",
    kind: "histogram",
    unit: "s",
    description: "Syntheses of an engine until their first byte.",
    attributes: ["engine"],
    bounds: workSeconds,
  },
  encoderDuration: {
    name: "voxledger.encoder.duration",
    kind: "histogram",
    unit: "s",
    description:
      "Encodings until their last byte, the waiting for samples included; outcomes as an engine's.",
    attributes: ["format", "outcome"],
    bounds: workSeconds,
  },
  queue: {
    name: "voxledger.queue.waiting",
    kind: "gauge",
    unit: "{job}",
    description: "Who waits for a turn: speech_tools, commands (for the event store), providers (by engine).",
    attributes: ["queue", "engine"],
  },
  toolsRunning: {
    name: "voxledger.speech_tools.running",
    kind: "gauge",
    unit: "{job}",
    description: "Local speech tools and encoders at work.",
  },
  toolsRestarts: {
    name: "voxledger.speech_tools.restarts",
    kind: "counter",
    unit: "{restart}",
    description: "How often the process that runs the speech tools was started again.",
  },

  upstreamRequests: {
    name: "voxledger.upstream.requests",
    kind: "counter",
    unit: "{request}",
    description: "Requests to speech providers, repeated ones too.",
    attributes: ["engine"],
  },
  upstreamErrors: {
    name: "voxledger.upstream.errors",
    kind: "counter",
    unit: "{error}",
    description: "Those that failed: their status, or how far they came (connect, waiting, answer).",
    attributes: ["engine", "error.type"],
  },
  upstreamRetries: {
    name: "voxledger.upstream.retries",
    kind: "counter",
    unit: "{retry}",
    description: "Requests to speech providers that were repeated.",
    attributes: ["engine"],
  },
  circuitChanges: {
    name: "voxledger.upstream.circuit.changes",
    kind: "counter",
    unit: "{change}",
    description: "Circuits of one account with a provider that opened (it is left alone) or closed.",
    attributes: ["engine", "state"],
  },

  appendDuration: {
    name: "voxledger.event_store.append.duration",
    kind: "histogram",
    unit: "s",
    description: "Appends by outcome: stored, conflict, unavailable.",
    attributes: ["outcome"],
    bounds: storeSeconds,
  },
  appendedEvents: {
    name: "voxledger.event_store.append.events",
    kind: "histogram",
    unit: "{event}",
    description: "Events in one append.",
    bounds: batchSizes,
  },
  viewsPosition: {
    name: "voxledger.views.position",
    kind: "gauge",
    unit: "{position}",
    description: "The position of the log that the views have reached.",
  },
  viewsLag: {
    name: "voxledger.views.lag",
    kind: "gauge",
    unit: "s",
    description:
      "How long an event that this instance appended has been missing from its views, or the log out of reach.",
  },
  viewsFailed: {
    name: "voxledger.views.failed",
    kind: "gauge",
    unit: "{view}",
    description:
      "Views that have stopped because of a defect in their fold. Requests that need them are refused with 503.",
  },
  malformedEvents: {
    name: "voxledger.events.malformed",
    kind: "gauge",
    unit: "{event}",
    description:
      "Events in the log that cannot be folded and are skipped. The log names the stream and revision of each.",
  },
  viewsLive: {
    name: "voxledger.views.live",
    kind: "gauge",
    unit: "{view}",
    description: "1 while the views follow the log, 0 while the subscription is down.",
  },

  audioStoreDuration: {
    name: "voxledger.audio_store.operation.duration",
    kind: "histogram",
    unit: "s",
    description: "Reads and writes of the audio store by outcome: found, absent, stored, failed, abandoned.",
    attributes: ["operation", "outcome"],
    bounds: storeSeconds,
  },
  pendingObjects: {
    name: "voxledger.audio_store.pending.objects",
    kind: "gauge",
    unit: "{object}",
    description: "Sounds that are yet to be written to the audio store.",
  },
  pendingBytes: {
    name: "voxledger.audio_store.pending.size",
    kind: "gauge",
    unit: "By",
    description: "What these take in memory.",
  },
  lostObjects: {
    name: "voxledger.audio_store.lost",
    kind: "counter",
    unit: "{object}",
    description: "Sounds that were given up: they will be made again when asked for.",
  },
  writeRetries: {
    name: "voxledger.audio_store.retries",
    kind: "counter",
    unit: "{retry}",
    description: "Writes to the audio store that were tried again.",
  },
  readsSuspended: {
    name: "voxledger.audio_store.reads_suspended",
    kind: "gauge",
    unit: "{store}",
    description: "1 while the audio store is left alone because reading failed.",
  },
  cacheBytes: {
    name: "voxledger.memory_cache.size",
    kind: "gauge",
    unit: "By",
    description: "Audio kept in memory.",
  },
  cacheObjects: {
    name: "voxledger.memory_cache.objects",
    kind: "gauge",
    unit: "{object}",
    description: "Sounds kept in memory.",
  },

  dependency: {
    name: "voxledger.dependency.up",
    kind: "gauge",
    unit: "{dependency}",
    description: "1 for each part of /health that is ok, 0 for one that is down.",
    attributes: ["dependency"],
  },
  loopDelay: {
    name: "nodejs.eventloop.delay.max",
    kind: "gauge",
    unit: "s",
    description: "The longest delay of the event loop since the last reading.",
  },
  loopDelayTypical: {
    name: "nodejs.eventloop.delay.p99",
    kind: "gauge",
    unit: "s",
    description: "The delay that 99 of 100 turns of the event loop kept within since the last reading.",
  },
  loopUtilization: {
    name: "nodejs.eventloop.utilization",
    kind: "gauge",
    unit: "1",
    description: "The share of its time that the event loop was at work, since the start.",
  },
  memory: {
    name: "process.memory.usage",
    kind: "gauge",
    unit: "By",
    description: "Resident memory of the process.",
  },
  heap: {
    name: "v8js.memory.heap.used",
    kind: "gauge",
    unit: "By",
    description: "JavaScript's share of it.",
  },
  cpu: {
    name: "process.cpu.time",
    kind: "counter",
    unit: "s",
    description: "Processor time taken.",
    attributes: ["cpu.mode"],
  },
} as const satisfies Record<string, Metric>;

export type MetricKey = keyof typeof metricDefinitions;

const unitSuffixes: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes", "1": "_ratio" };

/** The name that Prometheus knows a metric by (OpenTelemetry, "Prometheus and OpenMetrics Compatibility"). */
export const prometheusName = ({ name, kind, unit }: Pick<Metric, "name" | "kind" | "unit">): string => {
  const suffix = unitSuffixes[unit] ?? "";
  return `${name.replaceAll(/[^a-zA-Z0-9]/g, "_")}${suffix}${kind === "counter" ? "_total" : ""}`;
};
