import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { seededRandom } from "../../support/eventstoredb-node/index-lag.ts";
import { type InProcessService, startInProcessService } from "../../support/in-process-service.ts";
import { isSample, testSeed } from "../../support/sample.ts";
import { adminToken, temporaryFolder } from "../../support/service.ts";
import { openAiApiKey, serveOpenAi } from "../../support/wire/openai.ts";
import type { SeenRequest, WireServer } from "../../support/wire/wire-server.ts";
import { doors, type Speech } from "./doors.ts";

const free = "af_bella";
const paid = "alloy";
const rounds = Number(process.env.CHARGED_WORK_ROUNDS ?? (isSample ? 10 : 30));
const atOnce = 6;
/**
 * Requests that may go free in a minute, because their clients have left. The service's clock
 * stands still.
 */
const freeDepartures = 10;

interface Entry {
  readonly type: string;
  readonly data: {
    readonly apiKey: string;
    readonly requestId: string;
    readonly engine: string;
    readonly characters: number;
    readonly cached?: string;
    /** Voices that failed before another engine spoke. */
    readonly failed?: readonly string[];
  };
}

describe("Random requests to every door, with refusals, departures, repeats and tiny quotas", () => {
  for (const seed of [testSeed, testSeed + 1]) {
    it(`have no more audio made than is charged, apart from failures of providers (seed ${seed})`, async () => {
      const run = await openRun(seed);
      try {
        for (let round = 0; round < rounds; round++) await run.round();
        await run.check();
      } finally {
        await run.close();
      }
    });
  }
});

interface Servers {
  readonly g1: WireServer;
  readonly oai: WireServer;
}

const openRun = async (seed: number) => {
  await using opened = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  opened.defer(folder.remove);
  const g1 = await serveOpenAi({ apiKey: openAiApiKey, models: ["kokoro"], voices: [free] });
  opened.defer(g1.close);
  const oai = await serveOpenAi();
  opened.defer(oai.close);
  const env = {
    DATA_DIR: folder.path,
    ENGINE_G1: `openai:${g1.url}/v1?model=kokoro&voices=${free}&key=${openAiApiKey}`,
    OPENAI_URL: oai.url,
    BURST_LIMIT: "1000000",
    DRAIN_SECONDS: "1", // some clients do not read
  };
  const before = await startInProcessService(env);
  const home = await registerWebsite(before.url);
  await before.close();
  const service = await startInProcessService({
    ...env,
    WYOMING_PORT: "0",
    WYOMING_KEY: `${home.apiKey}.${home.apiSecret}`,
  });
  opened.defer(service.close);
  const websites = [home];
  for (const monthlyCharacters of [null, 300, 40, 12])
    websites.push(await registerWebsite(service.url, { monthlyCharacters }));
  for (const { id } of websites)
    await admin(service.url, "PUT", `/websites/${id}/credentials/oai`, { apiKey: openAiApiKey });
  const resources = opened.move();
  return new Run(service, { g1, oai }, { home, websites }, seed, () => resources.disposeAsync());
};

class Run {
  readonly #service: InProcessService;
  readonly #servers: Servers;
  readonly #websites: { readonly home: Credentials; readonly websites: readonly Credentials[] };
  readonly #random: () => number;
  readonly close: () => Promise<void>;
  #requests = 0;
  /** The number of requests of the free voice whose clients have left, by key. */
  readonly #departures = new Map<string, number>();

  constructor(
    service: InProcessService,
    servers: Servers,
    websites: { readonly home: Credentials; readonly websites: readonly Credentials[] },
    seed: number,
    close: () => Promise<void>,
  ) {
    this.#service = service;
    this.#servers = servers;
    this.#websites = websites;
    this.#random = seededRandom(seed);
    this.close = close;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #is(probability: number): boolean {
    return this.#random() < probability;
  }

  async round(): Promise<void> {
    await Promise.all(Array.from({ length: atOnce }, () => this.#request()));
  }

  async #request(): Promise<void> {
    const [name, door] = this.#pick(Object.entries(doors));
    const website = name === "Wyoming" ? this.#websites.home : this.#pick(this.#websites.websites);
    const voice = this.#pick([free, paid]);
    const server = voice === free ? this.#servers.g1 : this.#servers.oai;
    const speech: Speech = {
      website,
      voice,
      // Some texts are requested again.
      text: this.#is(0.25) ? this.#pick(["again", "and again", "once more"]) : `text ${this.#requests++}`,
      headers: this.#is(0.4) ? { "Idempotency-Key": this.#pick(["a", "b", "c", "d"]) } : {},
    };
    if (this.#is(0.1)) server.faults.next({ kind: "refusal", status: 500 });
    const leaving = new AbortController();
    const plan = this.#is(0.4)
      ? this.#pick(["at once", "soon", "when asked", "when answered"] as const)
      : "never";
    const readsNothing = this.#is(0.15);
    const asked = server.requests.length;
    const { apiKey } = website;
    let isResponded = false;
    const leave = (): void => {
      if (isResponded) return;
      leaving.abort(new Error("left"));
      if (voice === free) this.#departures.set(apiKey, (this.#departures.get(apiKey) ?? 0) + 1);
    };
    if (plan === "at once") setImmediate(leave);
    if (plan === "soon") setTimeout(leave, this.#random() * 40).unref();
    if (plan === "when asked") void server.until(() => server.requests.length > asked).then(leave);
    if (plan === "when answered")
      void server
        .until(() => server.requests.some(({ status }, index) => index >= asked && status))
        .then(leave);
    // A client that neither reads nor leaves would be disconnected after a while only.
    if (readsNothing || plan.startsWith("when")) setTimeout(leave, 500).unref();
    const { url, wyomingUrl = "" } = this.#service;
    await door({ url, wyomingUrl }, speech, { signal: leaving.signal, readsNothing }).catch(() => {});
    isResponded = true;
  }

  /** Charged requests for which an engine has worked. */
  async #charges(engine: string): Promise<number> {
    const response = await fetch(`${this.#service.url}/admin/audit`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const entries: Entry[] = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ data }) => data.engine === engine);
    const charged = new Set<string>();
    for (const { type, data } of entries) {
      const isWork = data.failed === undefined && ["miss", "coalesced"].includes(data.cached ?? "");
      if (type === "SynthesisServed" && data.characters > 0 && isWork) charged.add(data.requestId);
    }
    for (const { type, data } of entries) if (type === "ServingVoided") charged.delete(data.requestId);
    return charged.size;
  }

  async check(): Promise<void> {
    const departures = [...this.#departures.values()].reduce(
      (sum, count) => sum + Math.min(count, freeDepartures),
      0,
    );
    for (const [engine, server, unpaid] of [
      ["oai", this.#servers.oai, 0],
      ["g1", this.#servers.g1, departures],
    ] as const) {
      await server.idle();
      const made = () => server.requests.filter(isMade).length;
      // Charges of clients that have left follow within a moment.
      for (let attempt = 0; attempt < 200 && made() > (await this.#charges(engine)) + unpaid; attempt++)
        await new Promise(setImmediate);
      expect(made(), `sounds of ${engine}`).to.be.above(0);
      expect(made(), `sounds of ${engine}`).to.be.at.most((await this.#charges(engine)) + unpaid);
    }
  }
}

/** Work of a provider that has not failed. */
const isMade = ({ path, status }: SeenRequest): boolean =>
  path === "/v1/audio/speech" && (status === undefined || status < 400);
