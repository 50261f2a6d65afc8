import { type HrTime, ValueType } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { metricDefinitions } from "./metric-names.ts";

/**
 * How long requests took. An instrument of the SDK takes 2.4 µs for one value under three attributes, since it looks the
 * cell up by what these hold: a fifteenth of what a whole answer from memory costs. Here a cell is found by two look-ups
 * and a value is an addition.
 */
export interface RequestDurations {
  add(method: string, route: string | undefined, status: number, seconds: number): void;
  readonly producer: MetricProducer;
}

interface Cell {
  readonly attributes: Record<string, string | number>;
  readonly counts: number[];
  sum: number;
  count: number;
}

const { name, unit, description, bounds } = metricDefinitions.requests;
const descriptor = { name, unit, description, valueType: ValueType.DOUBLE };
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export const createRequestDurations = (now: () => number = Date.now): RequestDurations => {
  const startTime = hrTimeOf(now());
  const cells = new Map<string | undefined, Map<number, Cell>>();

  /** Routes are templates and methods a short list: so are the cells. */
  const cellOf = (method: string, route: string | undefined, status: number): Cell => {
    const place = route === undefined ? method : `${method} ${route}`;
    const known = cells.get(place)?.get(status);
    if (known) return known;
    const ofPlace = cells.get(place) ?? new Map<number, Cell>();
    const cell = newCell(method, route, status);
    cells.set(place, ofPlace.set(status, cell));
    return cell;
  };

  const points = (): DataPoint<Histogram>[] => {
    const endTime = hrTimeOf(now());
    return [...cells.values()]
      .flatMap((ofPlace) => [...ofPlace.values()])
      .map(({ attributes, counts, sum, count }) => ({
        startTime,
        endTime,
        attributes,
        value: { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count },
      }));
  };

  return {
    add: (method, route, status, seconds) => {
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
    },
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
