import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { bytesOf, type Credentials, synthesize } from "../../support/client.ts";

/** A key and its quota. */
export interface LimitedKey extends Credentials {
  /** Null: no quota. */
  readonly quota: number | null;
}

/** A complete response with audio. */
export interface ServedResponse {
  readonly requestId: string;
  readonly apiKey: string;
  readonly idempotencyKey: string | undefined;
}

/** What the clients of all rounds have seen. */
export interface Observed {
  readonly responses: ServedResponse[];
  /** The number of responses by status; 0 for requests without a complete response. */
  readonly statuses: Map<number, number>;
  /** The requests without a complete response, by their Idempotency-Key. */
  readonly cutOff: Map<string, number>;
  /**
   * The requests that got 503, by their Idempotency-Key. If the outcome of an append was not known
   * in time, the charge is visible until its void is durable, which a kill may prevent.
   */
  readonly unavailable: Map<string, number>;
  /** Requests with an Idempotency-Key that are to be repeated. */
  readonly repeats: Request[];
  /** API keys that were refused with 403. */
  readonly refused: Set<string>;
}

export const nothingObserved = (): Observed => ({
  responses: [],
  statuses: new Map(),
  cutOff: new Map(),
  unavailable: new Map(),
  repeats: [],
  refused: new Set(),
});

interface Request {
  readonly credentials: Credentials;
  readonly text: string;
  readonly headers: Record<string, string>;
  readonly idempotencyKey: string | undefined;
}

export const charactersPerText = 10;
const texts = ["ten chars!", "ten more!!", "and again!"];
const clientsPerInstance = 12;
const repeatRate = 0.3;
const refusedPauseMs = 20;

export interface LoadOptions {
  readonly urls: readonly string[];
  readonly keys: readonly Credentials[];
  readonly random: () => number;
  readonly observed: Observed;
  /** True if the service continues when a part of it was killed. Default false. */
  readonly continues?: () => boolean;
}

export interface RunningLoad {
  /** Resolves after this many further responses. */
  more(count: number): Promise<void>;
  /** Waits for the responses that are outstanding. */
  stop(): Promise<void>;
}

/** Sends requests of the keys to all instances until `stop`. */
export const startLoad = (options: LoadOptions): RunningLoad => {
  const { urls, random, observed } = options;
  const progress = new EventEmitter();
  let response = 0;
  let stopped = false;
  const run = async (url: string): Promise<void> => {
    while (!stopped) {
      const status = await send(url, nextRequest(options), observed, random);
      observed.statuses.set(status, (observed.statuses.get(status) ?? 0) + 1);
      if (status === 0 && !options.continues?.()) return; // The instance was killed.
      response += 1;
      progress.emit("answer");
      if (status !== 200 && status !== 206) await delay(refusedPauseMs);
    }
  };
  const clients = urls.flatMap((url) => Array.from({ length: clientsPerInstance }, () => run(url)));
  return {
    more: async (count) => {
      for (const end = response + count; response < end; ) await once(progress, "answer");
    },
    stop: async () => {
      stopped = true;
      await Promise.all(clients);
    },
  };
};

const nextRequest = ({ keys, random, observed }: LoadOptions): Request => {
  const repeat = random() < repeatRate ? observed.repeats.shift() : undefined;
  if (repeat) return repeat;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const usable = keys.filter(({ apiKey }) => !observed.refused.has(apiKey) || random() < 0.05);
  const common = { credentials: pick(usable.length > 0 ? usable : keys), text: pick(texts) };
  const kind = random();
  if (kind < 0.2) return { ...common, headers: { Range: "bytes=0-99" }, idempotencyKey: undefined };
  if (kind < 0.6) return { ...common, headers: {}, idempotencyKey: undefined };
  const idempotencyKey = random().toString(36).slice(2);
  return { ...common, headers: { "Idempotency-Key": idempotencyKey }, idempotencyKey };
};

/** Resolves with the status, 0 without a complete response. */
const send = async (
  url: string,
  request: Request,
  { responses, cutOff, unavailable, repeats, refused }: Observed,
  random: () => number,
): Promise<number> => {
  const { credentials, text, headers, idempotencyKey } = request;
  const { apiKey } = credentials;
  const countIn = (requests: Map<string, number>): void => {
    if (idempotencyKey) requests.set(idempotencyKey, (requests.get(idempotencyKey) ?? 0) + 1);
  };
  try {
    const query = { voice: "UK English Female", text };
    const response = await synthesize(url, credentials, query, { headers });
    await bytesOf(response);
    if (response.ok) {
      responses.push({ requestId: response.headers.get("x-request-id") ?? "", apiKey, idempotencyKey });
    }
    if (response.status === 403) refused.add(apiKey);
    if (response.status === 503) countIn(unavailable);
    if (idempotencyKey && (!response.ok || random() < repeatRate)) repeats.push(request);
    return response.status;
  } catch {
    countIn(cutOff);
    if (idempotencyKey) repeats.push(request);
    return 0;
  }
};
