import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { serveLocally } from "../local-server.ts";

/** A span in OTLP, with its attributes as a plain object. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** OTLP's enumeration: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** OTLP's enumeration: 2 is an error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The resource attributes of the sending process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** An OTLP/HTTP receiver for traces and metrics in JSON. */
export interface OtlpCollector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The metrics of the last export: by name, the sum over all attributes. */
  readonly metrics: ReadonlyMap<string, number>;
  /** The raw request bodies. */
  readonly received: readonly string[];
  /** Resolves when the condition holds; it is checked after every export. */
  until(holds: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export const startOtlpCollector = async (): Promise<OtlpCollector> => {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, number>();
  const received: string[] = [];
  const waiting = new Set<() => void>();

  const receive = async (request: IncomingMessage): Promise<void> => {
    const exported = (await json(request)) as Otlp;
    received.push(JSON.stringify(exported));
    for (const { resource, scopeSpans } of exported.resourceSpans ?? [])
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push(spanOf(span, resource));
    for (const { scopeMetrics } of exported.resourceMetrics ?? [])
      for (const metric of scopeMetrics.flatMap((scope) => scope.metrics))
        metrics.set(metric.name, sumOf(metric));
    for (const look of waiting) look();
  };

  const server = await serveLocally(async (request, response) => {
    await receive(request);
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  return {
    url: server.url,
    spans,
    metrics,
    received,
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: server.close,
  };
};

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly Attribute[];
}

interface Point {
  readonly asDouble?: number;
  readonly asInt?: number | string;
  readonly count?: number | string;
}

interface OtlpMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly dataPoints: readonly Point[] };
}

interface OtlpResource {
  readonly attributes?: readonly Attribute[];
}

interface Otlp {
  readonly resourceSpans?: readonly {
    readonly resource: OtlpResource;
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[];
  }[];
}

const spanOf = ({ status, attributes, ...span }: OtlpSpan, resource: OtlpResource): ReceivedSpan => ({
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId || undefined,
  kind: span.kind,
  status: status?.code ?? 0,
  attributes: plain(attributes),
  resource: plain(resource.attributes),
});

const plain = (attributes: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const sumOf = ({ sum, gauge, histogram }: OtlpMetric): number =>
  (sum ?? gauge ?? histogram ?? { dataPoints: [] }).dataPoints
    .map(({ count, asDouble, asInt }) => Number(count ?? asDouble ?? asInt ?? 0))
    .reduce((total, value) => total + value, 0);
