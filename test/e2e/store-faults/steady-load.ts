import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Credentials, synthesize, synthesizeByPost } from "../../support/client.ts";

/** The result of one request. */
export interface Outcome {
  /** 0: no response, for example because the service was killed. */
  readonly status: number;
  readonly requestId: string;
  readonly apiKey: string;
  /**
   * The address of the delivered object (`audio/…`), and the SHA-256 of its bytes if all arrived.
   */
  readonly object: string;
  readonly bytes: string | undefined;
  readonly cached: string | null;
  readonly retryAfter: string | null;
}

/** Sends different requests sequentially on several workers until it is stopped. */
export interface SteadyLoad {
  /** In order of completion. */
  readonly outcomes: readonly Outcome[];
  /** Resolves when this many matching outcomes were added after the call. */
  more(count: number, isMeant?: (outcome: Outcome) => boolean): Promise<void>;
  /** Resolves when the last response has arrived. */
  stop(): Promise<void>;
}

export const isServed = ({ status }: Outcome): boolean => status === 200 || status === 206;
export const isRefused = ({ status }: Outcome): boolean => status === 503;

/**
 * The load fails when a request hangs. Longer than any deadline of the service on a busy machine.
 */
const responseTimeoutMs = 120_000;
/**
 * The pause of a worker after a refused connection or an exceeded quota, so that they do not cause
 * a busy loop.
 */
const refusedPauseMs = 200;
const workersPerKey = [0, 1, 2, 3];
const voice = "UK English Female";
const repeated = ["A repeated sentence.", "Another repeated sentence.", "A third repeated sentence."];

let texts = 0;
const fresh = (): string => `Never said before, number ${++texts}.`;

type Ask = (url: string, credentials: Credentials) => Promise<Response>;

const get =
  (textOf: () => string, headers: Record<string, string> = {}): Ask =>
  (url, credentials) =>
    synthesize(url, credentials, { voice, text: textOf() }, { headers });

const post =
  (textOf: () => string): Ask =>
  (url, credentials) =>
    synthesizeByPost(url, credentials, { voice, text: textOf() });

const again = (turn: number) => () => repeated[turn % repeated.length] ?? "";

const cachedRequests = [
  get(again(0)),
  post(again(1)),
  get(again(2)),
  get(again(1), { Range: "bytes=0-99" }),
  post(again(0)),
];

/** The requests, repeated in order. */
const mixtures = {
  "mostly cached": [...cachedRequests, get(fresh), ...cachedRequests, post(fresh)],
  "many new texts": [...cachedRequests, get(fresh), post(fresh)],
} as const satisfies Record<string, readonly Ask[]>;

/** Runs four workers per key; the URL is read for each request. */
export const putSteadyLoad = (
  url: () => string,
  keys: readonly Credentials[],
  mixture: keyof typeof mixtures = "mostly cached",
): SteadyLoad => {
  const kinds: readonly Ask[] = mixtures[mixture];
  const outcomes: Outcome[] = [];
  const watching = new Set<(outcome: Outcome) => void>();
  let stopped = false;

  const note = (outcome: Outcome): void => {
    outcomes.push(outcome);
    for (const look of watching) look(outcome);
  };

  const line = async (credentials: Credentials, first: number): Promise<void> => {
    for (let turn = first; !stopped; turn++) {
      const ask = kinds[turn % kinds.length] as Ask;
      const outcome = await outcomeOf(credentials, ask(url(), credentials));
      note(outcome);
      if (outcome.status === 0 || outcome.status === 403) await delay(refusedPauseMs);
    }
  };

  const all = Promise.all(
    keys.flatMap((credentials) => workersPerKey.map((number) => line(credentials, 3 * number))),
  );
  all.catch(() => {}); // reported by `stop` and `more`

  return {
    outcomes,
    more: (count, isMeant = () => true) => {
      const enough = new Promise<void>((resolve) => {
        let left = count;
        const look = (outcome: Outcome): void => {
          if (isMeant(outcome)) left -= 1;
          if (left > 0) return;
          watching.delete(look);
          resolve();
        };
        watching.add(look);
      });
      return Promise.race([enough, all.then(() => {})]);
    },
    stop: async () => {
      stopped = true;
      await all;
    },
  };
};

/**
 * Throws when no response arrives in time; a connection that ends without a response is an outcome
 * too.
 */
const outcomeOf = async ({ apiKey }: Credentials, pending: Promise<Response>): Promise<Outcome> => {
  const known = new AbortController();
  const late = delay(responseTimeoutMs, undefined, { signal: known.signal }).then(() => {
    throw new Error(`no answer within ${responseTimeoutMs} ms`);
  });
  late.catch(() => {}); // also when nothing awaits it any more
  try {
    return { ...(await Promise.race([responseOf(pending), late])), apiKey };
  } finally {
    known.abort();
  }
};

const responseOf = async (pending: Promise<Response>): Promise<Omit<Outcome, "apiKey">> => {
  const response = await pending.catch(() => undefined);
  if (!response) return nothing;
  const { status, headers } = response;
  const bytes = await response.bytes().catch(() => undefined);
  return {
    status,
    requestId: headers.get("x-request-id") ?? "",
    object: headers.get("content-location")?.slice(1) ?? "",
    bytes: bytes && createHash("sha256").update(bytes).digest("hex"),
    cached: headers.get("svc-cached"),
    retryAfter: headers.get("retry-after"),
  };
};

const nothing = { status: 0, requestId: "", object: "", bytes: undefined, cached: null, retryAfter: null };
