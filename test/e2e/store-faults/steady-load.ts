import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Credentials, synthesize, synthesizeByPost } from "../../support/client.ts";

/** What came of one request. */
export interface Outcome {
  /** 0: no answer began, as when the service is killed. */
  readonly status: number;
  readonly requestId: string;
  readonly apiKey: string;
  /** The name of the object that was answered with (`audio/…`), and the SHA-256 of the bytes if all of them came. */
  readonly object: string;
  readonly bytes: string | undefined;
  readonly cached: string | null;
  readonly retryAfter: string | null;
}

/** Requests of many kinds, one after the other on each of several lines, until it is told to stop. */
export interface SteadyLoad {
  /** In the order in which they came to be known. */
  readonly outcomes: readonly Outcome[];
  /** Resolves when so many outcomes of that kind were added from now on, whatever came of what was asked before. */
  more(count: number, isMeant?: (outcome: Outcome) => boolean): Promise<void>;
  /** Resolves when the last answer is there. */
  stop(): Promise<void>;
}

export const isServed = ({ status }: Outcome): boolean => status === 200 || status === 206;
export const isRefused = ({ status }: Outcome): boolean => status === 503;

/** Nobody is left without an answer for longer: the load fails then. */
const patienceMs = 15_000;
/** Where nobody listens, the next request of a line waits for so long. */
const knockEveryMs = 50;
const linesOfKey = [0, 1, 2, 3];
const voice = "UK English Female";
const repeated = ["Said again and again.", "The same once more.", "An old story."];

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

const hearAgain = [
  get(again(0)),
  post(again(1)),
  get(again(2)),
  get(again(1), { Range: "bytes=0-99" }),
  post(again(0)),
];

/** What comes, over and over. */
const mixtures = {
  "mostly what was made before": [...hearAgain, get(fresh), ...hearAgain, post(fresh)],
  "much that is new": [...hearAgain, get(fresh), post(fresh)],
} as const satisfies Record<string, readonly Ask[]>;

/** On four lines for each key; the address is asked for anew with each request. */
export const putSteadyLoad = (
  url: () => string,
  keys: readonly Credentials[],
  mixture: keyof typeof mixtures = "mostly what was made before",
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
      if (outcome.status === 0) await delay(knockEveryMs);
    }
  };

  const all = Promise.all(
    keys.flatMap((credentials) => linesOfKey.map((number) => line(credentials, 3 * number))),
  );
  all.catch(() => {}); // told by `stop`, and by whoever waits for more

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

/** Fails when there is none in time; what ends without one is an outcome too. */
const outcomeOf = async ({ apiKey }: Credentials, asked: Promise<Response>): Promise<Outcome> => {
  const known = new AbortController();
  const late = delay(patienceMs, undefined, { signal: known.signal }).then(() => {
    throw new Error(`no answer within ${patienceMs} ms`);
  });
  late.catch(() => {}); // also when nobody waits for it any more
  try {
    return { ...(await Promise.race([answerOf(asked), late])), apiKey };
  } finally {
    known.abort();
  }
};

const answerOf = async (asked: Promise<Response>): Promise<Omit<Outcome, "apiKey">> => {
  const response = await asked.catch(() => undefined);
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
