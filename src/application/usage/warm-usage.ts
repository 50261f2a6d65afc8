import type { MonthlyUsage } from "../../../projections/monthly-quota.ts";
import type { View } from "../../../projections/runner/runner.ts";
import {
  evolveUsage,
  idempotencyMemory,
  initialUsage,
  objectMemory,
  type UsageEvent,
} from "../../domain/usage/usage.ts";
import type { StreamSnapshot } from "../../eventstore/command-handler.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { eventTime } from "./business-time.ts";

/**
 * A month's usage from the view's totals, without reading the whole month: only recent events are read, backwards, a day
 * of them if Idempotency-Keys were used. Undefined for streams that the view does not contain.
 */
export const createWarmUsage =
  ({
    store,
    quotas,
    clock,
  }: {
    store: Pick<EventStore, "readStream">;
    quotas: View<MonthlyUsage>;
    clock: () => number;
  }) =>
  async (stream: string): Promise<StreamSnapshot | undefined> => {
    const counted = quotas.get(stream);
    if (!counted || counted.revision < 0) return undefined;
    const { used, revision, keyedAt } = counted; // the view may change before the read ends
    const now = clock();
    const isKeyed = keyedAt >= now - idempotencyMemory.keptMs;
    const { max, keptMs } = isKeyed ? idempotencyMemory : objectMemory;
    const last = await lastEvents(store, stream, { from: revision, since: now - keptMs, max });
    if (last[0]?.revision !== revision) return undefined;
    const usage = last.reduceRight((before, event) => evolveUsage(before, asUsage(event)), initialUsage());
    return { state: { ...usage, used }, revision, position: last[0].position };
  };

/** Newest first, up to and including the first event older than `since`. */
const lastEvents = async (
  store: Pick<EventStore, "readStream">,
  stream: string,
  { from, since, max }: { readonly from: number; readonly since: number; readonly max: number },
): Promise<RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  let served = 0;
  for await (const event of store.readStream(stream, { direction: "backwards", from })) {
    events.push(event);
    if (event.type === "SynthesisServed") served++;
    if (served >= max || Date.parse(eventTime(event)) < since) break;
  }
  return events;
};

const asUsage = ({ type, data }: RecordedEvent): UsageEvent => ({ type, data }) as UsageEvent;
