import { Unavailable } from "../domain/errors.ts";
import { EventStoreUnavailable } from "./event-store.ts";

const retryAfterSeconds = 1;

/** Translates a failed read of the event store for callers; returns any other error unchanged. */
export const toUnavailable = (error: unknown): unknown =>
  error instanceof EventStoreUnavailable
    ? new Unavailable("The event store cannot be read now.", retryAfterSeconds, { cause: error })
    : error;

/** Rejects with the translated error. */
export const throwUnavailable = (error: unknown): never => {
  throw toUnavailable(error);
};
