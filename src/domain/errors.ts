/** Errors carry codes and facts; what they mean on the wire is http/errors.ts's affair alone. */

/** Every refusal or failure that a caller may be told of. Its message is safe to show. */
export abstract class ServiceError extends Error {
  abstract override readonly name: string;
}

export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The request itself is wrong. */
export class Invalid extends ServiceError {
  override readonly name = "Invalid";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join("; "));
    this.problems = problems;
  }
}

/** The voice cannot pronounce anything of the text. Another voice may. */
export class Unpronounceable extends Invalid {
  constructor() {
    super([{ path: ["text"], message: "The text has nothing in it that this voice can pronounce." }]);
  }
}

/** The message says by itself what it is about: many a caller reads nothing else. */
const problemText = ({ path, message }: Problem): string => {
  const place = path.join(".");
  const isNamed = place === "" || message.split(/\W+/).includes(place);
  return isNamed ? message : `${place}: ${message}`;
};

/** The thing that was named is not there. */
export class NotFound extends ServiceError {
  override readonly name = "NotFound";
}

/** The request does not fit the state of what it names (a key already issued, a secret already revoked). */
export class Conflict extends ServiceError {
  override readonly name = "Conflict";
}

/** Missing or wrong credentials; says no more than that. */
export class Unauthorized extends ServiceError {
  override readonly name = "Unauthorized";
}

/** The key is suspended, or would pass its monthly quota with this request and is suspended now. */
export class KeyIsSuspended extends ServiceError {
  override readonly name = "KeyIsSuspended";
}

/** Too many requests; `retryAfterSeconds` later the same request passes. */
export class RateLimited extends ServiceError {
  override readonly name = "RateLimited";
  readonly kind: "minute" | "burst" | "failures" | "sockets";
  readonly retryAfterSeconds: number;

  constructor(message: string, kind: RateLimited["kind"], retryAfterSeconds: number) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The engine failed. The message is the engine's own, with nothing secret in it. */
export class EngineFailed extends ServiceError {
  override readonly name = "EngineFailed";
  readonly retryAfterSeconds: number | undefined;
  /** The same would fail again, until somebody changes what was refused: the credentials, the address, the text. */
  readonly permanent: boolean;

  constructor(
    message: string,
    options?: { cause?: unknown; retryAfterSeconds?: number | undefined; permanent?: boolean },
  ) {
    super(message, { cause: options?.cause });
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.permanent = options?.permanent ?? false;
  }
}

/** A part that the answer needs is not to be had now (the event store is down, the queues are full). */
export class Unavailable extends ServiceError {
  override readonly name = "Unavailable";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The work was broken off by no fault of its own (its process was killed): it may well be done if asked again. */
export class Interrupted extends Unavailable {
  constructor(options?: ErrorOptions) {
    super("The speech tools were interrupted.", 1, options);
  }
}
