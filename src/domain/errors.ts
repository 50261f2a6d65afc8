/** Errors carry facts. The HTTP layer alone maps them to statuses and codes. */

/** A refusal or failure that is reported to callers. The message contains no secrets. */
export abstract class ServiceError extends Error {
  abstract override readonly name: string;

  /** The message without parts of texts: it may be logged, recorded and sent to other callers. */
  get loggable(): string {
    return this.message;
  }
}

export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The request is invalid. The message is for the caller alone: it may quote the text. */
export class Invalid extends ServiceError {
  override readonly name = "Invalid";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(problemText).join("; ").replaceAll(".; ", "; "), options);
    this.problems = problems;
  }

  override get loggable(): string {
    return "The request is invalid.";
  }
}

/** No voice can speak the text. */
export class NothingToSpeak extends Invalid {
  constructor() {
    super([{ path: ["text"], message: "The text contains nothing that can be spoken." }]);
  }
}

/**
 * The voice cannot pronounce these characters or, if none are given, any part of the text. Another
 * voice may.
 */
export class Unpronounceable extends Invalid {
  constructor(characters: Iterable<string> = [], options?: ErrorOptions) {
    const names = Array.from(new Set(characters), nameOf);
    const what = names.length === 0 ? "any part of the text" : list(names);
    super([{ path: ["text"], message: `This voice cannot pronounce ${what}.` }], options);
  }
}

const nameOf = (character: string): string =>
  `${character} (U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")})`;

const maxNames = 5;

const list = (names: readonly string[]): string =>
  names.length <= maxNames ? names.join(", ") : `${names.slice(0, maxNames).join(", ")} and others`;

/** The speech of the text exceeds a limit of time or size. */
export class SpeechTooLong extends Invalid {
  constructor() {
    super([{ path: ["text"], message: "The text takes too long to speak: send it in parts, or faster." }]);
  }
}

/** The message names the path, because many callers show only the message. */
const problemText = ({ path, message }: Problem): string => {
  const place = path.join(".");
  const isNamed = place === "" || message.split(/\W+/).includes(place);
  return isNamed ? message : `${place}: ${message}`;
};

/** The named resource does not exist. */
export class NotFound extends ServiceError {
  override readonly name = "NotFound";
  /** The kind of the missing resource, if the APIs of other services distinguish it. */
  readonly resource: "voice" | "engine" | "model" | undefined;

  constructor(message: string, resource?: NotFound["resource"]) {
    super(message);
    this.resource = resource;
  }

  /** Names of voices and models are the client's words. */
  override get loggable(): string {
    const { resource } = this;
    return resource === "voice" || resource === "model" ? `There is no such ${resource}.` : this.message;
  }
}

/**
 * The request conflicts with the state of its resource (a key is already issued, a secret already
 * revoked).
 */
export class Conflict extends ServiceError {
  override readonly name = "Conflict";
}

/** An archive with journals that the log no longer has. */
export interface ArchivedPart {
  /** SHA-256 (hex) of the file. */
  readonly file: string;
  /** The number of the journals that the request needs. */
  readonly journals: number;
  /** The months in which they were written, in order: `yyyy-mm`. */
  readonly months: readonly string[];
}

/** The request needs single servings that were deleted after they were archived. */
export class Archived extends ServiceError {
  override readonly name = "Archived";
  readonly archives: readonly ArchivedPart[];

  constructor(archives: readonly ArchivedPart[]) {
    super(`The log no longer has single servings of this request: ${archives.map(partText).join("; ")}.`);
    this.archives = archives;
  }
}

const partText = ({ file, journals, months: [first = "", ...others] }: ArchivedPart): string => {
  const last = others.at(-1);
  const period = last === undefined ? first : `${first} to ${last}`;
  const subject = journals === 1 ? "1 journal of" : `${journals} journals of`;
  return `${subject} ${period} ${journals === 1 ? "is" : "are"} in the archive with the SHA-256 ${file}`;
};

/** Missing or wrong credentials. The message discloses no more. */
export class Unauthorized extends ServiceError {
  override readonly name = "Unauthorized";
}

/** The caller is known, but may not do this. */
export class Forbidden extends ServiceError {
  override readonly name: string = "Forbidden";
}

/** The key is suspended, or this request would exceed its monthly quota and has suspended it. */
export class KeyIsSuspended extends Forbidden {
  override readonly name = "KeyIsSuspended";
  readonly by: "quota" | "operator";

  /** The reason follows a colon and ends without a full stop. */
  constructor(reason: string, by: KeyIsSuspended["by"]) {
    super(`The key is suspended: ${reason}. ${liftedBy[by]}`);
    this.by = by;
  }

  /** An operator's reason may name persons: it is in the ledger once, and not in the log. */
  override get loggable(): string {
    return this.by === "quota" ? this.message : `The key is suspended. ${liftedBy[this.by]}`;
  }
}

const liftedBy: Readonly<Record<KeyIsSuspended["by"], string>> = {
  quota: "It is reinstated by a plan with a higher quota, or by the operator.",
  operator: "Only the operator can reinstate it.",
};

/**
 * The engine failed. The message is the engine's own, without secrets. It is for the caller alone,
 * because it may quote the text.
 */
export class EngineFailed extends ServiceError {
  override readonly name = "EngineFailed";
  readonly #loggable: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** True if a retry fails again, until the credentials, the address or the text are changed. */
  readonly permanent: boolean;

  constructor(
    message: string,
    options?: {
      cause?: unknown;
      retryAfterSeconds?: number | undefined;
      permanent?: boolean;
      /** The message without a provider's own words. Default: the message. */
      loggable?: string | undefined;
    },
  ) {
    super(message, { cause: options?.cause });
    this.#loggable = options?.loggable;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.permanent = options?.permanent ?? false;
  }

  override get loggable(): string {
    return this.#loggable ?? this.message;
  }
}

/** The engine was stopped because nobody read its audio. */
export class ReadersStalled extends EngineFailed {
  constructor() {
    super("The stream was aborted: the client stopped reading while others were waiting.");
  }
}

/**
 * The provider has spoken other words than those of the text. It must be paid, so the request is
 * charged. Its audio is not used.
 */
export class Reworded extends EngineFailed {
  /** `reason`: why the provider did not speak all of the text. */
  constructor(reason?: string) {
    super(
      reason === undefined
        ? "The speech provider spoke other words than those of the text."
        : `The speech provider did not speak all of the text (${reason}).`,
    );
  }
}

/** A required component is unavailable (the event store is down, a queue is full). */
export class Unavailable extends ServiceError {
  override readonly name = "Unavailable";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The API key has more work in a queue than its part of it. Other keys are served. As after any
 * `Unavailable`, nothing is charged, and a retry may succeed. It does not count as a failure of the
 * service.
 */
export class KeyOverloaded extends Unavailable {}

/** The work was interrupted from outside (its process was killed). A retry may succeed. */
export class Interrupted extends Unavailable {
  constructor(options?: ErrorOptions) {
    super("The speech tools were interrupted.", 1, options);
  }
}

/** An error in one line for operators: its message and its cause, without a stack. */
export const errorMessage = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const because = cause instanceof Error && !message.includes(cause.message) ? ` (${cause.message})` : "";
  return `${message}${because}`.replace(/\s+/g, " ");
};
