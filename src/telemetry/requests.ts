import { type HrTime, SpanKind, SpanStatusCode, ValueType } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { RequestObserver } from "../http/kernel/observer.ts";
import { metricDefinitions } from "./metrics.ts";
import type { Sampler } from "./sampler.ts";
import { noopSpan, runInSpan, startSpan } from "./spans.ts";

export interface RequestObserverOptions {
  readonly durations: ReturnType<typeof createRequestDurations>;
  readonly sampler: Sampler;
}

export const createRequestObserver = ({ durations, sampler }: RequestObserverOptions): RequestObserver => ({
  begin: (request, requestId) => {
    const { method = "" } = request;
    const startedAt = performance.now();
    const context = sampler.parentContext(request);
    const span = context ? startSpan(method, server, context) : noopSpan;
    return {
      run: (step) => runInSpan(span, step),
      end: (route, status) => {
        durations.add(method, route, status, (performance.now() - startedAt) / 1_000);
        if (!context) return;
        if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute("http.route", route);
        span.setAttributes({
          "http.request.method": method,
          "http.response.status_code": status,
          "voxledger.request_id": requestId,
        });
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  },
});

const server = { kind: SpanKind.SERVER };

interface Cell {
  readonly attributes: Record<string, string | number>;
  readonly counts: number[];
  sum: number;
  count: number;
}

const { name, unit, description, bounds = [] } = metricDefinitions.requests;
const descriptor = { name, unit, description, valueType: ValueType.DOUBLE };
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * The histogram of request durations. The SDK's own takes 2.4 µs to record a value with three
 * attributes, because it hashes them: a fifteenth of the cost of a whole answer from memory. Here
 * it takes two map look-ups and an addition.
 */
export const createRequestDurations = (now: () => number = Date.now) => {
  const startTime = hrTimeOf(now());
  const cells = new Map<string | undefined, Map<number, Cell>>();

  /** The number of cells is bounded: routes are templates, and methods come from a fixed list. */
  const cellOf = (method: string, route: string | undefined, status: number): Cell => {
    const key = route === undefined ? method : `${method} ${route}`;
    const known = cells.get(key)?.get(status);
    if (known) return known;
    const byStatus = cells.get(key) ?? new Map<number, Cell>();
    const cell = newCell(method, route, status);
    cells.set(key, byStatus.set(status, cell));
    return cell;
  };

  const points = (): DataPoint<Histogram>[] => {
    const endTime = hrTimeOf(now());
    return [...cells.values()]
      .flatMap((byStatus) => [...byStatus.values()])
      .map(({ attributes, counts, sum, count }) => ({
        startTime,
        endTime,
        attributes,
        value: { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count },
      }));
  };

  return {
    add: (method: string, route: string | undefined, status: number, seconds: number): void => {
      const cell = cellOf(methods.has(method) ? method : "_OTHER", route, status);
      let bucket = 0;
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++;
      cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
      cell.sum += seconds;
      cell.count++;
    },
    producer: {
      collect: async () => ({
        errors: [],
        resourceMetrics: {
          resource: emptyResource(),
          scopeMetrics: [
            {
              scope: { name: "voxledger" },
              metrics: [
                {
                  descriptor,
                  aggregationTemporality: AggregationTemporality.CUMULATIVE,
                  dataPointType: DataPointType.HISTOGRAM,
                  dataPoints: points(),
                },
              ],
            },
          ],
        },
      }),
    } satisfies MetricProducer,
  };
};

const newCell = (method: string, route: string | undefined, status: number): Cell => ({
  attributes: {
    "http.request.method": method,
    ...(route !== undefined && { "http.route": route }),
    "http.response.status_code": status,
  },
  counts: new Array(bounds.length + 1).fill(0),
  sum: 0,
  count: 0,
});

const hrTimeOf = (ms: number): HrTime => [Math.trunc(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
