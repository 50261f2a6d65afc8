import { EngineFailed } from "../../domain/errors.ts";

/**
 * How far an exchange had come: `connect`, and nothing reached the upstream; `waiting`, it was asked and gave no answer;
 * `answer`, it answered: with a status that is a refusal, or with a body that broke off.
 */
export type Stage = "connect" | "waiting" | "answer";

/** An upstream that could not be reached, refused, or broke off. What can safely be repeated is told by stage and status. */
export class UpstreamFailed extends EngineFailed {
  readonly stage: Stage;
  /** Of the answer, where it is the answer's head that tells the failure: nothing of a sound has come by then. */
  readonly status: number | undefined;

  constructor(
    message: string,
    { stage, status, retryAfterSeconds, cause }: { stage: Stage; status?: number } & FailureDetails,
  ) {
    super(message, { cause, retryAfterSeconds, permanent: isRefusal(status) });
    this.stage = stage;
    this.status = status;
  }
}

/** A refusal of what was asked, or of who asked; not one of now alone. */
const isRefusal = (status = 0): boolean => status >= 400 && status < 500 && !passing.has(status);

const passing: ReadonlySet<number> = new Set([408, 409, 425, 429]);

interface FailureDetails {
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}
