import { expect } from "chai";
import { thresholdId } from "../../../src/domain/ledger/accounts/usage-event-ids.ts";
import type { EventStore, NewEvent } from "../../../src/eventstore/event-store.ts";
import { createCloseUsageAccounts } from "../../../src/ledger/accounts/close-usage-accounts.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing } from "./sealed-store.ts";

type Forge = (event: NewEvent) => NewEvent | undefined;

/**
 * A store that changes or leaves out events as they are appended, as a dishonest operator could
 * before any seal.
 */
const forging = (store: EventStore, forge: Forge): EventStore => ({
  ...store,
  append: async (stream, events, expected) => {
    const forged = events.flatMap((event) => forge(event) ?? []);
    return forged.length > 0 ? store.append(stream, forged, expected) : { revision: 0, position: 0 };
  },
});

describe("the verification of accounts", () => {
  const temporary = duringTest(openTemporaryStore);

  /** Two journals, settled; a month, closed; and a seal. */
  const writeMonth = async (forge: Forge): Promise<void> => {
    const store = forging(temporary.store, forge);
    const { log, post, seals } = sealing(store);
    await log.openJournal("j1");
    await log.serve("j1", "k1", [12, 30]);
    await log.serve("j1", "k2", [5]);
    await log.openJournal("j2");
    await log.serve("j2", "k1", [7]);
    await log.close("j1");
    await log.close("j2");
    await post("j1", 2);
    await post("j2", 1);
    await log.retire("j1");
    await log.retire("j2");
    const onError = (what: string, error: unknown) => {
      throw new Error(what, { cause: error });
    };
    const clock = () => Date.parse("2026-12-15T00:00:00.000Z");
    await createCloseUsageAccounts({ store, apiKeys: () => ["k1", "k2"], clock, onError })();
    await seals.seal({ actor: "system" });
  };
  const problem = async (forge: Forge): Promise<unknown> => {
    await writeMonth(forge);
    return String(await rejection(verifyLog(temporary.store, { keys })));
  };
  const changing =
    (type: string, changes: object): Forge =>
    (event) =>
      event.type === type ? { ...event, data: { ...event.data, ...changes } } : event;

  it("accepts postings and closings that the journals give", async () => {
    await writeMonth((event) => event);
    expect(await verifyLog(temporary.store, { keys })).to.deep.include({ events: 15, seals: 1 });
  });

  it("finds a posting with other totals, and names it", async () => {
    expect(await problem(changing("UsagePosted", { characters: 1 }))).to.match(
      /usage-k[12]-2026-11 revision 0 \(UsagePosted, position \d+\) does not have the totals/,
    );
  });

  it("finds a posting with another digest of its journal's range", async () => {
    expect(await problem(changing("UsagePosted", { digest: "0" }))).to.include("does not have the digest");
  });

  it("finds a posting whose range leaves a gap or overlaps", async () => {
    expect(await problem(changing("UsagePosted", { from: 1 }))).to.include(
      "starts at revision 1, and should start at 0",
    );
  });

  it("finds a posting of entries that are in no journal", async () => {
    expect(await problem(changing("UsagePosted", { journal: "j3" }))).to.include("journal j3 has no entries");
  });

  it("finds entries that were never posted", async () => {
    const dropped = await problem((event) => (event.type === "UsagePosted" ? undefined : event));
    expect(dropped).to.include("lacks the entries of revision");
  });

  it("finds a closing with other totals, or another digest of its account", async () => {
    expect(await problem(changing("AccountClosed", { characters: 1 }))).to.include(
      "does not have the totals",
    );
  });

  it("finds a closing with another digest of its account", async () => {
    expect(await problem(changing("AccountClosed", { digest: "0" }))).to.include("does not have the digest");
  });

  describe("with thresholds of quotas", () => {
    const at = "2026-11-05T11:00:00.000Z";
    const crossing = (members: object = {}, id?: string): NewEvent => {
      const data = { threshold: 50, characters: 50, quota: 100, at, ...members };
      const event = { type: "QuotaThresholdCrossed", data, metadata: { actor: "system" } };
      return { id: id ?? thresholdId("k1", "2026-11", data.threshold), ...event };
    };
    const verifyWith = async (...crossings: readonly NewEvent[]): Promise<void> => {
      const { store } = temporary;
      const { log, post, seals } = sealing(store);
      await log.append("key-k1", "KeyIssued", {
        apiKey: "k1",
        websiteId: "w",
        plan: { tier: "enterprise", requestsPerMinute: 10, monthlyCharacters: 100 },
      });
      await log.openJournal("j1");
      await log.append("quota-k1-2026-11", "CharactersReserved", { journal: "j1", total: 80 });
      await log.serve("j1", "k1", [30]);
      await log.serve("j1", "k1", [20]);
      for (const event of crossings) await store.append("usage-k1-2026-11", [event], "any");
      await log.serve("j1", "k1", [30]);
      await log.close("j1");
      await post("j1", 3);
      await log.retire("j1");
      const onError = (what: string, error: unknown) => {
        throw new Error(what, { cause: error });
      };
      const clock = () => Date.parse("2026-12-15T00:00:00.000Z");
      await createCloseUsageAccounts({ store, apiKeys: () => ["k1"], clock, onError })();
      await seals.seal({ actor: "system" });
      await verifyLog(store, { keys });
    };

    it("accepts one that was reached, in the digest of a closed account too", () => verifyWith(crossing()));

    for (const [what, event, message] of [
      ["was not charged yet", crossing({ threshold: 80, characters: 80 }), "of which 50 were charged"],
      ["is not reached", crossing({ characters: 49 }), "a threshold that is not reached"],
      ["does not exist", crossing({ threshold: 10, characters: 10 }), "a threshold that is not reached"],
      ["is of another quota than the plan's", crossing({ quota: 90 }), "states a quota of 90"],
      ["has another id", crossing({}, crypto.randomUUID()), "does not have the id"],
    ] as const) {
      it(`finds one that ${what}`, async () => {
        expect(String(await rejection(verifyWith(event)))).to.include(message);
      });
    }
  });
});
