import { Unavailable } from "../../domain/errors.ts";
import { EventStoreUnavailable } from "../../eventstore/event-store.ts";

const retryAfterSeconds = 1;

/** A failure to read the event store, as callers may be told of it; anything else as it is. */
export const toUnavailable = (error: unknown): unknown =>
  error instanceof EventStoreUnavailable
    ? new Unavailable("The event store cannot be read now.", retryAfterSeconds, { cause: error })
    : error;
