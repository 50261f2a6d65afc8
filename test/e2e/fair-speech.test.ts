import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { type Credentials, errorOf, registerWebsite, synthesizeByPost } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { type RunningService, startInstance } from "../support/instance.ts";
import { until } from "../support/processes.ts";
import { isSample } from "../support/sample.ts";
import { temporaryFolder } from "../support/service.ts";

const voice = "US English Female";

/** The settings of each event store, and what ends it. */
const stores = {
  SQLite: async () => ({ env: {}, close: async () => undefined }),
  EventStoreDB: async () => {
    const node = await startEventStoreDBNode();
    const MASTER_KEY = randomBytes(32).toString("base64");
    return { env: { EVENT_STORE: node.url, MASTER_KEY }, close: async () => void (await node.close()) };
  },
};

for (const [name, openStore] of Object.entries(stores)) {
  describe(`Speech for one key while another key floods the service, with ${name}`, function () {
    this.timeout(600_000);
    const folder = duringSuite(temporaryFolder);
    const store = duringSuite(openStore);
    let service: RunningService;
    let flooding: Credentials;
    let website: Credentials;
    let flood: DigitFlood;
    before(async () => {
      service = await startInstance(folder.path, {
        ...store.env,
        BURST_LIMIT: "1000000",
        MAX_TEXT_CHARACTERS: "5000",
      });
      flooding = await registerWebsite(service.url);
      website = await registerWebsite(service.url);
      flood = startDigitFlood(service.url, flooding, { inFlight: 64, voice });
    });
    after(async () => {
      await flood.stop();
      await service.kill(); // at a stop it would speak the texts that are in flight to their end
    });

    const newSentences = isSample ? 20 : 100;
    it(`succeeds for ${newSentences} of ${newSentences} new sentences`, async () => {
      let sentences = 0;
      const speak = async (): Promise<void> => {
        if (++sentences > newSentences) return;
        const text = `Hello there, for the time number ${sentences}.`;
        const response = await synthesizeByPost(service.url, website, { voice, text });
        expect(response.status, text).to.equal(200);
        expect(response.headers.get("svc-cached")).to.equal("miss");
        expect((await response.arrayBuffer()).byteLength).to.be.above(1000);
        await speak();
      };
      await Promise.all([speak(), speak(), speak(), speak()]);
    });

    it("is refused to the flooding key only, with Retry-After", async () => {
      await until("the flood is refused", () => flood.responses.has(429));
      // More than may wait. One after the other, each would wait for the flood.
      const leaving = new AbortController();
      const attempts = Array.from({ length: 32 }, async (_, attempt) => {
        const text = `And ${attempt} more. ${"7319046528".repeat(100)}`;
        const response = await synthesizeByPost(service.url, flooding, { voice, text }, leaving);
        if (response.status === 200) throw new Error(`attempt ${attempt} was not refused`);
        return response;
      });
      const refusal = await Promise.any(attempts);
      expect(refusal.status).to.equal(429);
      expect(Number(refusal.headers.get("retry-after"))).to.be.at.least(1);
      expect((await errorOf(refusal)).code).to.equal("KEY_OVERLOADED");
      leaving.abort();
      expect([...flood.responses.keys()])
        .to.include(429)
        .and.to.satisfy((statuses: number[]) => statuses.every((status) => [200, 429].includes(status)));
    });
  });
}

/**
 * Keeps distinct texts of 2,000 digits in flight with one key until it is stopped. The service must
 * allow that length. On a busy machine longer ones may exceed the time limit of a text, which is a
 * 400.
 */
interface DigitFlood {
  /** The number of responses by status. */
  readonly responses: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

/** Pause after a response, so that refusals do not cause a busy loop. */
const pauseMs = 500;

const startDigitFlood = (
  url: string,
  website: Credentials,
  { inFlight, voice }: { readonly inFlight: number; readonly voice: string },
): DigitFlood => {
  const responses = new Map<number, number>();
  const stopping = new AbortController();
  const { signal } = stopping;

  const keepAsking = async (): Promise<void> => {
    while (!signal.aborted) {
      const text = Array.from(randomBytes(2000), (byte) => byte % 10).join("");
      const { status, body } = await synthesizeByPost(url, website, { voice, text }, { signal });
      responses.set(status, (responses.get(status) ?? 0) + 1);
      await body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const asking = Array.from({ length: inFlight }, () =>
    keepAsking().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  );
  return {
    responses,
    stop: async () => {
      stopping.abort();
      await Promise.all(asking);
    },
  };
};
