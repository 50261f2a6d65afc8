import { expect } from "chai";
import { pino } from "pino";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import {
  ask,
  type InProcessService,
  type ReceivedResponse,
  startInProcessService,
} from "../../../support/in-process-service.ts";

/** What may be wrong with a request, in the order in which it is refused. */
const order = [
  "wrong secret",
  "minute used up",
  "burst",
  "suspended key",
  "invalid parameter",
  "unknown voice",
  "malformed Idempotency-Key",
  "Idempotency-Key of another request",
  "quota used up",
  "unsatisfiable range",
] as const;
type Fault = (typeof order)[number];

const refusals: Readonly<Record<Fault, string>> = {
  "wrong secret": "401 UNAUTHORIZED",
  "minute used up": "429 RATE_LIMIT_EXCEEDED",
  burst: "429 BURST_RATE_LIMIT_EXCEEDED",
  "suspended key": "403 KEY_SUSPENDED",
  "invalid parameter": "400 VALIDATION_ERROR",
  "unknown voice": "404 NOT_FOUND",
  "malformed Idempotency-Key": "400 VALIDATION_ERROR",
  "Idempotency-Key of another request": "400 VALIDATION_ERROR",
  "quota used up": "403 KEY_SUSPENDED",
  "unsatisfiable range": "416 RANGE_NOT_SATISFIABLE",
};

const text = "ten chars!";
const used = { "Idempotency-Key": "used before" };

/** The faults that depend on the key's state; the others depend on the request. */
const ofKey: readonly Fault[] = ["minute used up", "burst", "suspended key", "quota used up"];

/** A header has one value, and a request one URL. */
const isPossible = (faults: ReadonlySet<Fault>): boolean =>
  !(faults.has("malformed Idempotency-Key") && faults.has("Idempotency-Key of another request")) &&
  !(faults.has("invalid parameter") && faults.has("unknown voice"));

const subsets = <T>([first, ...others]: readonly T[]): T[][] =>
  first === undefined ? [[]] : subsets(others).flatMap((subset) => [subset, [first, ...subset]]);

/** Addresses have few wrong secrets each, but keys have their bursts from one address. */
let address = 0;
const wrongSecret = (): Record<string, string> => ({
  "X-API-Secret": "wrong",
  "X-Forwarded-For": `10.${Math.floor(++address / 250)}.${address % 250}.1`,
});

const requestHeaders = (faults: ReadonlySet<Fault>): Record<string, string> => ({
  ...(faults.has("wrong secret") && wrongSecret()),
  ...(faults.has("malformed Idempotency-Key") && { "Idempotency-Key": "" }),
  ...(faults.has("Idempotency-Key of another request") && used),
  ...(faults.has("unsatisfiable range") && { Range: "bytes=9999999-" }),
});

const brokenParameters = (faults: ReadonlySet<Fault>): Record<string, string> => ({
  ...(faults.has("invalid parameter") && { pitch: "9" }),
  ...(faults.has("unknown voice") && { voice: "Nobody" }),
});

/**
 * A key's requests per minute, and how many it has made in this minute. Up to a limit of 400, a
 * burst has 20, of which the request with the Idempotency-Key was one.
 */
const rateOf = (faults: ReadonlySet<Fault>): { readonly limit: number; readonly made: number } => {
  const isBurst = faults.has("burst");
  if (faults.has("minute used up")) return isBurst ? { limit: 19, made: 19 } : { limit: 1, made: 1 };
  return isBurst ? { limit: 100, made: 19 } : { limit: 1_000_000, made: 0 };
};

/** The headers that differ between two requests, or between the sizes of two texts' audio. */
const varying = ["date", "x-request-id", "x-ratelimit-remaining", "content-range", "content-length"];

const shown = ({ status, headers, text }: ReceivedResponse) => ({
  status,
  headers: Object.entries(headers)
    .filter(([name]) => !varying.includes(name))
    .sort(),
  text,
});

describe("the order of refusals", () => {
  let service: InProcessService;
  let fromMemory = 0;

  before(async () => {
    const write = (line: string): void => {
      if (line.includes('"fastPath":true')) fromMemory++;
    };
    const settings = { BURST_WINDOW_MS: "60000", TRUST_PROXY: "127.0.0.1" };
    service = await startInProcessService(settings, pino({ level: "debug" }, { write }));
    const website = await registerWebsite(service.url);
    for (let i = 0; i < 2; i++) await get(query({}), authorize(website));
  });
  after(() => service.close());

  const query = (parameters: Record<string, string>): string =>
    String(new URLSearchParams({ voice: "UK English Female", text, ...parameters }));

  const get = (parameters: string, headers: Record<string, string>): Promise<ReceivedResponse> =>
    ask(`${service.url}/v2/text/synthesize?${parameters}`, { headers });

  /** A website whose key is in that state, and has used an Idempotency-Key. */
  const websiteWith = async (faults: ReadonlySet<Fault>): Promise<Credentials> => {
    const { limit, made } = rateOf(faults);
    const website = await registerWebsite(service.url, {
      requestsPerMinute: limit,
      monthlyCharacters: faults.has("quota used up") ? 2 : null,
    });
    await get(query({ text: "a." }), { ...authorize(website), ...used });
    service.time.now += 60_000;
    for (let i = 0; i < made; i++) await get(query({ volume: "0" }), authorize(website));
    if (faults.has("suspended key"))
      await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "unpaid" });
    return website;
  };

  let texts = 0;

  /** Requests that differ only in what the service knows of them. */
  const ways = (faults: ReadonlySet<Fault>): Record<string, string> => {
    const parameters = brokenParameters(faults);
    const number = String(++texts).padStart(text.length - 1, "0");
    return {
      "audio in memory": query(parameters),
      "a new URL": query({ ...parameters, n: number }),
      "a new text": query({ ...parameters, text: `${number}.` }),
    };
  };

  for (const state of subsets(ofKey)) {
    const title = state.length === 0 ? "a key in good standing" : state.join(", ");
    it(`is the same for audio in memory, a new URL and a new text: ${title}`, async () => {
      const website = await websiteWith(new Set(state));
      for (const others of subsets(order.filter((fault) => !ofKey.includes(fault)))) {
        const faults = new Set<Fault>([...state, ...others]);
        if (!isPossible(faults)) continue;
        const refusal = order.find((fault) => faults.has(fault));
        const refused: object[] = [];
        for (const [way, parameters] of Object.entries(ways(faults))) {
          const where = `${[...faults].join(", ")}: ${way}`;
          const before = fromMemory;
          const response = await get(parameters, { ...authorize(website), ...requestHeaders(faults) });
          const code = response.status === 200 ? "" : ` ${JSON.parse(response.text).error.code}`;
          expect(`${response.status}${code}`, where).to.equal(refusal ? refusals[refusal] : "200");
          if (refusal) refused.push(shown(response));
          else expect(fromMemory - before, where).to.equal(way === "audio in memory" ? 1 : 0);
          if (refusal === "quota used up")
            await admin(service.url, "POST", `/keys/${website.apiKey}/reinstate`);
        }
        for (const one of refused) expect(one, [...faults].join(", ")).to.deep.equal(refused[0]);
      }
    });
  }
});
