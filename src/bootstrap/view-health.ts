import type { MalformedEvents } from "../../projections/malformed-events.ts";
import type { RunnerStatus } from "../../projections/runner/runner.ts";
import { isServing } from "./views.ts";

/** @throws when requests cannot be answered from the views */
export const requireServingViews = ({ live, current, failed }: RunnerStatus): void => {
  if (!live) throw new Error("the subscription to the event store is down");
  if (!current) throw new Error("the subscription to the event store lags, and requests are refused");
  throwIfFailed(failed.filter(isServing));
};

/** @throws when a view has stopped that only reports and hints need */
export const requireReportingViews = ({ failed }: RunnerStatus): void =>
  throwIfFailed(failed.filter((name) => !isServing(name)));

const throwIfFailed = (failed: readonly string[]): void => {
  if (failed.length > 0) throw new Error(`stopped, see the log: ${failed.join(", ")}`);
};

/** Without the stream, whose name may hold an API key: health is read without credentials. */
export const skippedEvents = ({ count, last }: MalformedEvents): string | undefined =>
  last && `${count} malformed, skipped; the last at position ${last.position}`;
