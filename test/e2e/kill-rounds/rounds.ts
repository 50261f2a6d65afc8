import { setTimeout as delay } from "node:timers/promises";
import { admin, registerWebsite } from "../../support/client.ts";
import { seededRandom } from "../../support/eventstoredb-node/index-lag.ts";
import type { RunningService } from "../../support/instance.ts";
import { gone, workersOf } from "../../support/processes.ts";
import { checkAccounts, checkQuotas, checkReports, settleJournals } from "./books.ts";
import { type Deployment, openDeployment, type ServerUrl, type StoreKind } from "./deployment.ts";
import { charactersPerText, type LimitedKey, nothingObserved, type Observed, startLoad } from "./load.ts";
import { createRecordedServings, type RecordedServings } from "./recorded-servings.ts";

export interface KillRoundsOptions {
  readonly store: StoreKind | ServerUrl;
  readonly rounds: number;
  readonly seed: number;
  /** Of each instance. Then workers are killed one by one, or all together, or all processes. */
  readonly workers?: number;
  readonly onRound?: (summary: string) => void;
}

/**
 * The kill follows up to this many responses; instances that were not killed give up to half as
 * many more.
 */
const maxResponses = 200;
const maxDelayMs = 20;
/** The load uses the newest keys with a small quota. */
const smallQuotas = 4;

/**
 * Kills the service under load with SIGKILL and restarts it, and checks the log after each round
 * and the books at the end.
 * @throws if a response is missing or doubled, a quota exceeded, or the books do not agree
 */
export const runKillRounds = async (options: KillRoundsOptions): Promise<Observed> => {
  const deployment = await openDeployment(options.store, options.workers);
  const run = new KillRounds(deployment, options);
  try {
    for (let round = 1; round <= options.rounds; round++) {
      const summary = await run.round();
      options.onRound?.(`${round}: ${summary}`);
    }
    await run.finish();
    return run.observed;
  } finally {
    await run.killAll();
    await deployment.remove();
  }
};

class KillRounds {
  readonly observed = nothingObserved();
  readonly #deployment: Deployment;
  readonly #random: () => number;
  readonly #services = new Map<number, RunningService>();
  readonly #keys: LimitedKey[] = [];
  readonly #recorded: RecordedServings;
  readonly #hasWorkers: boolean;

  constructor(deployment: Deployment, { seed, workers = 1 }: KillRoundsOptions) {
    this.#hasWorkers = workers > 1;
    this.#deployment = deployment;
    this.#random = seededRandom(seed);
    this.#recorded = createRecordedServings(deployment.store);
  }

  async round(): Promise<string> {
    const urls = await this.#start();
    await this.#addKeys(urls[0] as string);
    const keys = [...this.#keys.slice(0, 3), ...this.#keys.slice(3).slice(-smallQuotas)];
    const continues = () => this.#hasWorkers && this.#services.size > 0;
    const load = startLoad({ urls, keys, random: this.#random, observed: this.observed, continues });
    await load.more(1 + Math.floor(this.#random() * maxResponses));
    await delay(this.#random() * maxDelayMs); // Also between two responses.
    await (this.#hasWorkers && this.#random() < 0.7 ? this.#killWorkers() : this.#killSome());
    if (this.#services.size > 0) await load.more(Math.floor((this.#random() * maxResponses) / 2));
    await load.stop();
    await this.#checkLog();
    return JSON.stringify(Object.fromEntries(this.observed.statuses));
  }

  async finish(): Promise<void> {
    const { store, verify } = this.#deployment;
    const [url = ""] = await this.#start();
    await this.#checkLog();
    await checkReports(url, this.#keys, this.#recorded);
    await this.#stop();
    await settleJournals(store);
    // A void may have been durable, and its lower total not stated, when its process was killed.
    // Now it is settled.
    const [again = ""] = await this.#start();
    await checkQuotas(again, this.#keys, this.#recorded);
    await this.#stop();
    await settleJournals(store);
    await this.#recorded.readOn();
    this.#recorded.check(this.observed, true);
    await checkAccounts(store, this.#keys, this.#recorded);
    await verify();
  }

  async #stop(): Promise<void> {
    for (const [instance, service] of this.#services) {
      const code = await service.stop();
      if (code !== 0) throw new Error(`instance ${instance} exited with ${code}`);
    }
    this.#services.clear();
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#services.values()].map((service) => service.kill()));
    this.#services.clear();
  }

  /** Starts the instances that do not run. Resolves with all URLs. */
  async #start(): Promise<string[]> {
    const all = Array.from({ length: this.#deployment.instances }, (_, instance) => instance);
    const missing = all.filter((instance) => !this.#services.has(instance));
    await Promise.all(
      missing.map(async (instance) => this.#services.set(instance, await this.#deployment.start(instance))),
    );
    return [...this.#services.values()].map(({ url }) => url);
  }

  async #addKeys(url: string): Promise<void> {
    const add = async (monthlyCharacters: number | null): Promise<void> => {
      this.#keys.push({ ...(await registerWebsite(url, { monthlyCharacters })), quota: monthlyCharacters });
    };
    if (this.#keys.length === 0) for (const quota of [null, null, 10_000_000]) await add(quota);
    for (const texts of [20, 200]) await add(Math.floor(this.#random() * texts * charactersPerText) + 1);
    await Promise.all([...this.#services.values()].map(({ url: other }) => this.#untilKnown(other)));
  }

  /** Resolves when the instance knows all keys. */
  async #untilKnown(url: string): Promise<void> {
    const path = `/keys/${this.#keys.at(-1)?.apiKey}`;
    while ((await admin(url, "GET", path)).status !== 200) await delay(10);
  }

  async #killSome(): Promise<void> {
    const running = [...this.#services];
    const certain = Math.floor(this.#random() * running.length);
    const killed = running.filter((_, index) => index === certain || this.#random() < 0.3);
    for (const [instance] of killed) this.#services.delete(instance);
    await Promise.all(killed.map(([, service]) => service.kill()));
  }

  /** Kills one worker of each service, or all of them at once. The services replace them. */
  async #killWorkers(): Promise<void> {
    for (const { pid } of this.#services.values()) {
      const workers = workersOf(pid);
      const certain = Math.floor(this.#random() * workers.length);
      const areAllKilled = this.#random() < 0.4;
      const killed = workers.filter((_, index) => areAllKilled || index === certain);
      for (const worker of killed) process.kill(worker, "SIGKILL");
      await gone(...killed);
    }
  }

  async #checkLog(): Promise<void> {
    await this.#recorded.readOn();
    this.#recorded.check(this.observed);
    for (const { apiKey, quota } of this.#keys) this.#recorded.checkQuota(apiKey, quota);
  }
}
