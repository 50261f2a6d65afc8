import { EngineFailed } from "../../domain/errors.ts";

/**
 * The stage at which a request failed. `connect`: the provider was not reached. `waiting`: it has
 * not responded. `answer`: it responded with an error status or an incomplete body.
 */
export type Stage = "connect" | "waiting" | "answer";

/**
 * The provider could not be reached, refused the request, or sent an incomplete response. Stage and
 * status tell whether a retry is safe.
 */
export class UpstreamFailed extends EngineFailed {
  readonly stage: Stage;
  /** The error status of the response. If it is defined, no audio was received. */
  readonly status: number | undefined;

  constructor(
    message: string,
    { stage, status, ...details }: { stage: Stage; status?: number } & FailureDetails,
  ) {
    super(message, { ...details, permanent: isRefusal(status) });
    this.stage = stage;
    this.status = status;
  }
}

/** This is all that a website learns about a failure without a response. */
export const unreachable = "The speech provider cannot be reached or does not respond.";

/** The same request would be refused again. */
const isRefusal = (status = 0): boolean => status >= 400 && status < 500 && !temporary.has(status);

const temporary: ReadonlySet<number> = new Set([408, 409, 425, 429]);

interface FailureDetails {
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
  /** Must be given if the message contains the provider's words. */
  readonly loggable?: string;
}

/** The response ended with its connection, and nothing shows that it was complete. */
export class UnprovenEnd extends UpstreamFailed {
  constructor() {
    super(
      "The speech provider closed the connection without saying where its response ends (no Content-Length, not chunked), so that the audio may be incomplete.",
      { stage: "answer" },
    );
  }
}
