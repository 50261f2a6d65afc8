import { ServiceError } from "../domain/errors.ts";
import type { EpochMs } from "../domain/time.ts";
import {
  type AskingLimit,
  createConcurrencyLimit,
  createRateLimit,
  type RefusingLimit,
  refusing,
  type SharedLimit,
  secondsLeft,
} from "./limit.ts";
import { type AskForMore, type CountedFor, type OpenShares, type Shares, wholeLimit } from "./shares.ts";
import { createUnreadAudio } from "./unread-audio.ts";

/** Settings, by their names. */
export interface LimitSettings {
  readonly BURST_WINDOW_MS: number;
  /** If undefined, the plan decides. */
  readonly BURST_LIMIT?: number | undefined;
  readonly STREAMS_PER_KEY: number;
  readonly UNREAD_AUDIO_BYTES: number;
  readonly WS_SOCKETS_PER_KEY: number;
}

/** Limits what a key or a client has at once, or within a window of time. */
export interface LimitRow {
  readonly of: CountedFor;
  readonly counts: string;
  /** The limit, or the setting that has it. */
  readonly atMost: number | keyof LimitSettings | "the plan's";
  /** Applies if the setting has no value. */
  readonly byDefault?: (requestsPerMinute: number) => number;
  /** The window of time in which units count. If absent, each counts until it is released. */
  readonly windowMs?: number | keyof LimitSettings;
  /** What happens to anything above the limit. */
  readonly beyond: Refusal | string;
}

/** A refusal is a response with status 429. */
interface Refusal {
  readonly code: string;
  readonly message: (atMost: number) => string;
  /** If absent, the client may retry when the window ends. */
  readonly retryAfterSeconds?: number;
}

const minuteMs = 60_000;
const megabyte = 1024 ** 2;

/**
 * All limits of a key or a client. `application/synthesis/limit-delivery.ts` applies those of
 * streams and unread audio, `application/articles/` those of articles, and
 * `http/websocket/admission.ts` that of sockets. `queues.ts` has the limits of jobs that wait, and
 * of a key's concurrent syntheses (`queues.syntheses`).
 */
export const limits = {
  /** Counts the requests to all instances together. */
  minute: {
    of: "key",
    counts: "requests per minute",
    atMost: "the plan's",
    windowMs: minuteMs,
    beyond: {
      code: "RATE_LIMIT_EXCEEDED",
      message: () => "The key has no requests left in this minute.",
    },
  },
  /** Counts in a window that slides. */
  burst: {
    of: "key and client",
    counts: "requests in a burst",
    atMost: "BURST_LIMIT",
    byDefault: (requestsPerMinute) => Math.max(20, Math.floor(requestsPerMinute / 20)),
    windowMs: "BURST_WINDOW_MS",
    beyond: {
      code: "BURST_RATE_LIMIT_EXCEEDED",
      message: () => "Too many requests at once from this key and address.",
    },
  },
  /** Each place where secrets are presented has its own count: see `AccessPoint`. */
  failures: {
    of: "client",
    counts: "wrong secrets per minute",
    atMost: 30,
    windowMs: minuteMs,
    beyond: {
      code: "RATE_LIMIT_EXCEEDED",
      message: () => "Too many failed attempts from this address.",
    },
  },
  sockets: {
    of: "key",
    counts: "open WebSockets",
    atMost: "WS_SOCKETS_PER_KEY",
    beyond: {
      code: "TOO_MANY_SOCKETS",
      message: (atMost) => `The key has ${atMost} sockets open, the maximum: close one or try again later.`,
      retryAfterSeconds: 10,
    },
  },
  streams: {
    of: "key",
    counts: "open streams",
    atMost: "STREAMS_PER_KEY",
    beyond: {
      code: "TOO_MANY_STREAMS",
      message: (atMost) => `The key has ${atMost} open streams, the maximum.`,
      retryAfterSeconds: 5,
    },
  },
  /** Counts articles of which this process speaks parts. */
  articles: {
    of: "key",
    counts: "articles that are being spoken",
    atMost: 50,
    beyond: {
      code: "TOO_MANY_ARTICLES",
      message: (atMost) => `${atMost} articles of the key are being spoken, the maximum: try again later.`,
      retryAfterSeconds: 5,
    },
  },
  unread: {
    of: "key",
    counts: "bytes of audio that its clients have requested and not read",
    atMost: "UNREAD_AUDIO_BYTES",
    beyond: {
      code: "TOO_MUCH_UNREAD_AUDIO",
      message: (atMost) =>
        `The key's clients have not read ${atMost} bytes of audio that they requested, the maximum.`,
      retryAfterSeconds: 5,
    },
  },
  /**
   * Counts requests that are not charged although an engine worked for them, or their serving was
   * recorded: the client disconnected before the first byte, or the text has nothing to speak.
   */
  departures: {
    of: "key",
    counts: "uncharged departures per minute",
    atMost: 10,
    windowMs: minuteMs,
    beyond: "further ones are charged",
  },
  /** Counts responses to requests without credentials. */
  unsent: {
    of: "client",
    counts: "bytes in memory that are not yet sent",
    atMost: 8 * megabyte,
    beyond: "the response waits",
  },
  /** Counts requests without credentials for parts of articles that are not spoken yet. */
  waiting: {
    of: "client",
    counts: "requests that wait for the audio of articles",
    atMost: 200,
    beyond: "the response is 503 at once",
  },
} as const satisfies Readonly<Record<string, LimitRow>>;

type LimitName = keyof typeof limits;

/** The limits that refuse. */
type RefusalKind = {
  [Name in LimitName]: (typeof limits)[Name] extends { readonly beyond: Refusal } ? Name : never;
}[LimitName];

/** Too many requests. The request may be repeated after `retryAfterSeconds`. */
export class RateLimited extends ServiceError {
  override readonly name = "RateLimited";
  readonly kind: RefusalKind;
  readonly retryAfterSeconds: number;
  /** Defined if only this process's share of the limit is used up. See `tryWithMore`. */
  readonly more: AskForMore | undefined;

  constructor(message: string, kind: RefusalKind, retryAfterSeconds: number, more?: AskForMore | undefined) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
    this.more = more;
  }
}

/**
 * Checks a limit, and repeats the check as long as the refusal can ask for more of the limit.
 * `check` must do nothing else: whatever it counts before it throws would be counted again.
 * @throws the refusal, or the signal's reason
 */
export const tryWithMore = <T>(check: () => T, signal?: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    const attempt = (): void => {
      if (signal?.aborted) return void abort();
      try {
        resolve(check());
      } catch (error) {
        if (error instanceof RateLimited && error.more) return void error.more(attempt);
        reject(error);
      }
      signal?.removeEventListener("abort", abort);
    };
    signal?.addEventListener("abort", abort, { once: true });
    attempt();
  });

/** Describes the limits of a key to people, with the codes of their refusals. */
export const describeLimits = (): string => {
  const refused = Object.values<LimitRow>(limits).flatMap(({ of, counts, beyond }) =>
    of === "client" || typeof beyond === "string" ? [] : `${counts} (\`${beyond.code}\`)`,
  );
  return `The key has too many ${refused.slice(0, -1).join(", ")}, or ${refused.at(-1)}.`;
};

export const minuteExceeded = (now: number, more?: AskForMore): RateLimited =>
  new RateLimited(limits.minute.beyond.message(), "minute", secondsLeft(now, limits.minute.windowMs), more);

export const burstExceeded = (retryAfterSeconds: number, more?: AskForMore): RateLimited =>
  new RateLimited(limits.burst.beyond.message(), "burst", retryAfterSeconds, more);

export type Limits = ReturnType<typeof createLimits>;

/**
 * Creates the limits that each instance counts for itself, its workers included. For the limits of
 * requests, see `createRateLimiter`.
 */
export const createLimits = (
  settings: LimitSettings,
  clock: () => EpochMs,
  openShares: OpenShares = () => wholeLimit,
) => {
  const sharesOf =
    (kind: LimitName) =>
    (used: (key: string) => number): Shares =>
      openShares(kind, limits[kind].of, used);
  const atOnce = (kind: "sockets" | "streams" | "articles"): RefusingLimit => {
    const { atMost: given, beyond } = limits[kind];
    const atMost = typeof given === "number" ? given : settings[given];
    const refusal = (more: AskForMore | undefined) =>
      new RateLimited(beyond.message(atMost), kind, beyond.retryAfterSeconds, more);
    return refusing(createConcurrencyLimit(atMost, sharesOf(kind)), refusal);
  };
  const { failures, unread, departures } = limits;
  return {
    failures: refusing(
      createRateLimit(failures, clock, sharesOf("failures")),
      (more) =>
        new RateLimited(failures.beyond.message(), "failures", secondsLeft(clock(), failures.windowMs), more),
    ),
    departures: asking(createRateLimit(departures, clock, sharesOf("departures"))),
    sockets: atOnce("sockets"),
    streams: atOnce("streams"),
    articles: atOnce("articles"),
    unread: createUnreadAudio(
      settings.UNREAD_AUDIO_BYTES,
      (atMost, more) =>
        new RateLimited(unread.beyond.message(atMost), "unread", unread.beyond.retryAfterSeconds, more),
      sharesOf("unread"),
    ),
  };
};

/** Asks for a larger share if the present one is used up. */
const asking = (limit: SharedLimit): AskingLimit => ({
  tryAcquire: (key) =>
    new Promise((resolve) => {
      const attempt = (): void => {
        if (limit.tryAcquire(key)) return void resolve(true);
        const more = limit.more(key);
        if (more) more(attempt);
        else resolve(false);
      };
      attempt();
    }),
});
