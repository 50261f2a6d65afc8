import type { RecordedEvent } from "./event-store.ts";

/**
 * Months, days, from, to and as-of refer to the event's own time, `data.at` (ISO 8601, UTC). An
 * event without one gets the time at which it was stored, so that no audit omits it.
 */
export const eventTime = ({ data, created }: RecordedEvent): string =>
  hasTime(data) ? data.at : new Date(created).toISOString();

/** Events of other programs may have any JSON value, or bytes, as data. */
const hasTime = (data: unknown): data is { readonly at: string } =>
  typeof data === "object" && data !== null && "at" in data && typeof data.at === "string";
