import { SpanKind } from "@opentelemetry/api";
import type { DeliveryOutcome } from "../../application/webhooks/dispatcher.ts";
import { byokEngines } from "../../domain/synthesis/byok-providers.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { Engine } from "../../engines/engine.ts";
import type { Exchange } from "../../engines/provider-http/exchange.ts";
import type { ProviderEvent } from "../../engines/resilience/with-event-reports.ts";
import type { Instruments } from "../instruments.ts";
import { runOperation } from "../operation.ts";
import { isRecording } from "../spans.ts";

/**
 * A synthesis lasts until its last byte has been read. This includes the time in which it waits for
 * the limiter, for an encoder (local engines) or for a slow reader.
 */
export const instrumentEngine = (instruments: Instruments) => {
  const duration = instruments.histogram("engineDuration");
  const firstByte = instruments.histogram("engineFirstByte");

  return (engine: Engine): Engine => {
    const { code } = engine;
    return {
      ...engine,
      synthesize: async (request, signal) => {
        const [speech, audio] = await runOperation(
          {
            name: `speak ${code}`,
            attributes: { "voxledger.engine": code, "voxledger.ssml": request.ssml },
            signal,
            onFirstByte: (seconds) => firstByte(seconds, { engine: code }),
            onEnd: (outcome, seconds) => duration(seconds, { engine: code, outcome }),
          },
          () => engine.synthesize(request, signal),
          (result) => result.audio,
        );
        return { ...speech, audio };
      },
    };
  };
};

/**
 * Creates a span for each request to a speech provider, retries included. The provider receives no
 * trace context, and the span holds no address: a website's own server is private.
 */
export const instrumentExchange =
  (exchange: Exchange): Exchange =>
  async (request, signal) => {
    if (!isRecording()) return await exchange(request, signal);
    const attributes = { "http.request.method": request.method };
    const [{ status, headers }, body] = await runOperation(
      { name: "ask provider", kind: SpanKind.CLIENT, attributes, signal },
      () => exchange(request, signal),
      (response) => response.body,
      (span, response) => span.setAttribute("http.response.status_code", response.status),
    );
    return { status, headers, body };
  };

/** Counts the events of provider clients. */
export const countProviderEvents = (instruments: Instruments) => {
  const requests = instruments.counter("upstreamRequests");
  const errors = instruments.counter("upstreamErrors");
  const retries = instruments.counter("upstreamRetries");
  const circuits = instruments.counter("circuitChanges");
  // Prometheus sees no increase in a series that starts with its first change, so an alert would
  // miss it.
  for (const engine of byokEngines) circuits.add(0, engine, "open");

  return (engine: EngineCode, event: ProviderEvent): void => {
    if (event.what === "requested") requests.add(1, engine);
    else if (event.what === "retried") retries.add(1, engine);
    else if (event.what === "refused") errors.add(1, engine, String(event.status));
    else if (event.what === "failed") errors.add(1, engine, event.stage);
    else if (event.what === "circuit") circuits.add(1, engine, event.state);
  };
};

/** Counts the attempts to deliver messages to webhooks. */
export const countWebhookAttempts = (instruments: Instruments) => {
  const attempts = instruments.counter("webhookAttempts");
  attempts.add(0, "abandoned"); // the alert would miss the first one, as above
  return (outcome: DeliveryOutcome): void => attempts.add(1, outcome);
};
