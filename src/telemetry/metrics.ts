import { audioStoreMetrics } from "./audio-store-metrics.ts";
import { batchSizes, requestSeconds, storeSeconds, waitSeconds, workSeconds } from "./buckets.ts";
import { counter, gauge, histogram, type Metric } from "./metric-definition.ts";
import { processMetrics } from "./process-metrics.ts";
import { userProjectionMetrics } from "./user-projection-metrics.ts";

/*
 * Every metric of the service. Names and units follow OpenTelemetry. Prometheus reads
 * `prometheusName` (`voxledger_synthesis_answers_total`), at /metrics and through a collector. No
 * attribute holds what a caller can choose freely: no key, no text, no voice.
 */

export const metricDefinitions = {
  starting: gauge("voxledger.starting", "{process}", "1 until the service listens, then 0.", {
    combined: "max",
  }),
  requests: histogram(
    "http.server.request.duration",
    "s",
    "Request duration, from the first byte received to the last byte sent.",
    {
      attributes: ["http.request.method", "http.route", "http.response.status_code"],
      bounds: requestSeconds,
    },
  ),
  refusals: counter(
    "voxledger.refusals",
    "{refusal}",
    "Refused callers by reason: unauthorized, failures (too many failed attempts), burst, minute, quota.",
    { attributes: ["reason"] },
  ),
  errors: counter(
    "voxledger.errors",
    "{response}",
    "Error responses over HTTP, except those of /admin, by code, such as KEY_OVERLOADED; by status if they have none.",
    { attributes: ["code"] },
  ),
  suspendedKeys: gauge(
    "voxledger.keys.suspended",
    "{key}",
    "Keys that are suspended now, by cause: quota, operator.",
    { attributes: ["cause"], combined: "max" },
  ),
  suspensions: counter(
    "voxledger.keys.suspensions",
    "{suspension}",
    "Suspensions of keys in the log, by cause: quota, operator.",
    { attributes: ["cause"], combined: "max" },
  ),
  reinstatements: counter(
    "voxledger.keys.reinstatements",
    "{reinstatement}",
    "Reinstatements of keys in the log, by the cause of the suspension that ended.",
    { attributes: ["cause"], combined: "max" },
  ),
  sockets: gauge("voxledger.websocket.connections", "{connection}", "Open WebSockets."),
  wyomingConnections: gauge(
    "voxledger.wyoming.connections",
    "{connection}",
    "Open connections of the Wyoming protocol.",
  ),

  responses: counter(
    "voxledger.synthesis.answers",
    "{answer}",
    "Recorded responses with audio, by provenance: miss, coalesced, memory, store.",
    { attributes: ["provenance", "engine", "delivery"] },
  ),
  characters: counter("voxledger.synthesis.characters", "{character}", "Characters of recorded responses.", {
    attributes: ["engine"],
  }),
  voided: counter(
    "voxledger.synthesis.voided",
    "{answer}",
    "Voided servings: no audio was sent, or a concurrent request with the same Idempotency-Key was charged.",
    { attributes: ["engine"] },
  ),
  voidedCharacters: counter(
    "voxledger.synthesis.voided_characters",
    "{character}",
    "Characters returned with voided servings.",
    { attributes: ["engine"] },
  ),
  backgroundEntries: gauge(
    "voxledger.synthesis.unsettled",
    "{request}",
    "Voids and ends of streams that are not in a journal yet. They are lost if the process is killed.",
    { read: ({ backgroundEntries }) => backgroundEntries() },
  ),
  synthesesInFlight: gauge("voxledger.synthesis.in_flight", "{sound}", "Syntheses in flight.", {
    read: ({ pipeline }) => pipeline().inFlight,
  }),
  streamsEnded: counter(
    "voxledger.stream.ended",
    "{stream}",
    "Ended streams by outcome: whole, left, failed.",
    { attributes: ["outcome"] },
  ),
  streamsOpen: gauge("voxledger.stream.open", "{stream}", "Open streams."),

  engineDuration: histogram(
    "voxledger.engine.duration",
    "s",
    "Synthesis duration until the last byte, by outcome: made, refused, failed, unavailable, abandoned.",
    { attributes: ["engine", "outcome"], bounds: workSeconds },
  ),
  engineFirstByte: histogram("voxledger.engine.first_byte", "s", "Synthesis duration until the first byte.", {
    attributes: ["engine"],
    bounds: workSeconds,
  }),
  encoderDuration: histogram(
    "voxledger.encoder.duration",
    "s",
    "Encoding duration until the last byte, waiting for samples included. Outcomes as for engines.",
    { attributes: ["format", "outcome"], bounds: workSeconds },
  ),
  queueLength: gauge(
    "voxledger.queue.waiting",
    "{job}",
    "Queue length: speech_tools, encoders, short_encoders, decoders, model_NAME, syntheses, providers (by engine), commands (and journal entries, for the event store).",
    { attributes: ["queue", "engine"] },
  ),
  slotsUsed: gauge("voxledger.queue.running", "{job}", "Running jobs: the slots in use behind each queue.", {
    attributes: ["queue", "engine"],
  }),
  queueWait: histogram(
    "voxledger.queue.wait.duration",
    "s",
    "Time that a started job has waited for its slot.",
    {
      attributes: ["queue", "engine"],
      bounds: waitSeconds,
    },
  ),
  oldestWait: gauge(
    "voxledger.queue.oldest_wait",
    "s",
    "Longest time in which an API key with waiting jobs, and below its limits, has got no slot.",
    { attributes: ["queue", "engine"], combined: "max" },
  ),
  oldestRun: gauge(
    "voxledger.queue.oldest_run",
    "s",
    "Longest time for which a running job has held its slot; 0 if none runs.",
    { attributes: ["queue", "engine"], combined: "max" },
  ),
  queueRefusals: counter(
    "voxledger.queue.refusals",
    "{job}",
    "Refused jobs by scope: all (all queues were full, or a key without other jobs waited too long), key (the key had too many jobs, and other keys were served).",
    { attributes: ["queue", "engine", "scope"] },
  ),
  toolsRestarts: counter(
    "voxledger.speech_tools.restarts",
    "{restart}",
    "Restarts of the process that runs the speech tools.",
    { read: ({ subprocess }) => subprocess().restarts, combined: "max" },
  ),

  upstreamRequests: counter(
    "voxledger.upstream.requests",
    "{request}",
    "Requests to speech providers, retries included.",
    { attributes: ["engine"] },
  ),
  upstreamErrors: counter(
    "voxledger.upstream.errors",
    "{error}",
    "Failed provider requests, by status or by stage (connect, waiting, answer).",
    { attributes: ["engine", "error.type"] },
  ),
  upstreamRetries: counter("voxledger.upstream.retries", "{retry}", "Retried requests to speech providers.", {
    attributes: ["engine"],
  }),
  circuitChanges: counter(
    "voxledger.upstream.circuit.changes",
    "{change}",
    "State changes of the circuit breakers of provider accounts.",
    { attributes: ["engine", "state"] },
  ),

  webhookAttempts: counter(
    "voxledger.webhook.attempts",
    "{attempt}",
    "Attempts to deliver a message to a webhook: succeeded, failed (repeated later), abandoned.",
    { attributes: ["outcome"] },
  ),

  appendDuration: histogram(
    "voxledger.event_store.append.duration",
    "s",
    "Append duration by outcome: stored, conflict, unavailable.",
    { attributes: ["outcome"], bounds: storeSeconds },
  ),
  appendedEvents: histogram(
    "voxledger.event_store.append.events",
    "{event}",
    "Events per append. An event of a journal holds many servings.",
    { bounds: batchSizes },
  ),
  clockDifference: gauge(
    "voxledger.clock.difference",
    "s",
    "How far the event store's clock is ahead of this instance's, negative if it is behind; after this instance's clock was set, by how much. Above 60 s nothing is recorded.",
    { read: ({ clockDifferenceMs }) => (clockDifferenceMs() ?? 0) / 1_000, combined: "max" },
  ),
  viewsPosition: gauge(
    "voxledger.views.position",
    "{position}",
    "Log position that the views have reached.",
    { read: ({ views }) => views().position, combined: "min" },
  ),
  viewsLag: gauge(
    "voxledger.views.lag",
    "s",
    "Age of the oldest own event that the views lack, or how long the log has been unreachable.",
    { read: ({ views }) => views().lagMs / 1_000, combined: "max" },
  ),
  viewsFailed: gauge(
    "voxledger.views.failed",
    "{view}",
    "Views whose fold has failed. Requests that need them are refused with 503.",
    { read: ({ views }) => views().failed.length, combined: "max" },
  ),
  malformedEvents: gauge(
    "voxledger.events.malformed",
    "{event}",
    "Events that cannot be folded and are skipped. The log names the stream and revision of each.",
    { read: ({ malformedEvents }) => malformedEvents(), combined: "max" },
  ),
  viewsLive: gauge(
    "voxledger.views.live",
    "{view}",
    "1 while the views follow the log, 0 while the subscription is down.",
    { read: ({ views }) => Number(views().live), combined: "min" },
  ),

  logSize: gauge("voxledger.log.size", "By", "Size of the embedded event store's files.", {
    read: ({ logBytes }) => logBytes(),
    combined: "max",
  }),
  sealAge: gauge(
    "voxledger.seal.age",
    "s",
    "Age of the log's last seal, or the time since the start until it is known. One is due each hour.",
    { read: ({ sealAgeSeconds }) => sealAgeSeconds(), combined: "max" },
  ),
  unrecoveredJournals: gauge(
    "voxledger.journals.unrecovered",
    "{journal}",
    "Journals of ended processes that could not be closed and posted. It is tried again each minute.",
    { read: ({ unrecoveredJournals }) => unrecoveredJournals(), combined: "max" },
  ),

  ...audioStoreMetrics,
  cacheBytes: gauge("voxledger.memory_cache.size", "By", "Size of the audio in the memory cache.", {
    read: ({ pipeline }) => pipeline().memory.bytes,
  }),
  cacheObjects: gauge("voxledger.memory_cache.objects", "{object}", "Audio objects in the memory cache.", {
    read: ({ pipeline }) => pipeline().memory.objects,
  }),

  dependency: gauge(
    "voxledger.dependency.up",
    "{dependency}",
    "1 for each dependency in /health that is ok, 0 for each that is down.",
    { attributes: ["dependency"], combined: "min" },
  ),
  ...userProjectionMetrics,
  ...processMetrics,
} as const satisfies Record<string, Metric>;

export type MetricKey = keyof typeof metricDefinitions;
