import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import { createAudit } from "../../../src/ledger/audit/audit.ts";
import { auditText } from "../../../src/ledger/audit/audit-format.ts";
import type { UsageCloudEvent } from "../../../src/ledger/audit/cloud-event.ts";
import { createJournalRegistry } from "../../../src/ledger/journal/journal-registry.ts";
import { createUsageReport } from "../../../src/ledger/reports/usage-report.ts";
import { createJournalAppender } from "../../support/append-to-journal.ts";
import { servingsVoided, streamsEnded, synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { append, issued } from "../../support/logged-events.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

/** Attribute names of CloudEvents 1.0, section 3.1: lower-case letters and digits. */
const attributeName = /^[a-z0-9]{1,20}$/;

describe("an audit as CloudEvents", () => {
  const temporary = duringSuite(openTemporaryStore);
  const journal = randomUUID();
  const servedAt = "2026-11-05T10:00:00.000Z";

  before(async () => {
    const { store } = temporary;
    await append(store, [...issued("ab"), ...issued("abc")]);
    await createJournalRegistry(createCommandHandler({ store }), Date.now).open(journal);
    const log = createJournalAppender(store, journal);
    const charge = (apiKey: string, requestId: string, characters: number) => ({
      apiKey,
      requestId,
      characters,
    });
    await log.append(
      synthesesServed(servedAt, [charge("ab", "r-1", 5), charge("abc", "r-2", 7), charge("ab", "r-3", 11)]),
    );
    await log.append(streamsEnded("2026-11-05T10:00:01.000Z", ["ab"]));
    await log.append(
      servingsVoided("2026-11-05T10:00:02.000Z", [
        { ...charge("ab", "r-3", 11), servedAt, reason: "unanswered" },
        { ...charge("abc", "r-2", 7), servedAt, reason: "repeat" },
      ]),
    );
    await append(store, [{ stream: "foreign", type: "SynthesisServed", data: { characters: 1e9 } }]);
  });

  const exported = async (apiKey?: string): Promise<UsageCloudEvent[]> => {
    const audit = createAudit({ store: temporary.store });
    const text = (await collect(auditText(audit({ apiKey }), "cloudevents"))).join("");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  };

  it("has an event for each charge and each void, and for nothing else", async () => {
    const events = await exported();
    expect(events.map(({ subject, time, data }) => [subject, time, data.characters, data.requests]))
      .to.deep //
      .equal([
        ["ab", servedAt, 5, 1],
        ["abc", servedAt, 7, 1],
        ["ab", servedAt, 11, 1],
        ["ab", servedAt, -11, -1],
        ["abc", servedAt, -7, 0],
      ]);
    expect(events[3]?.data).to.deep.include({
      requestId: "r-3",
      voided: { reason: "unanswered", at: "2026-11-05T10:00:02.000Z" },
    });
  });

  it("has the required attributes, with names that CloudEvents allows", async () => {
    for (const event of await exported()) {
      expect(event).to.include({
        specversion: "1.0",
        type: "voxledger.usage",
        source: `urn:uuid:${journal}`,
      });
      for (const name of Object.keys(event)) expect(name).to.match(attributeName);
      expect(new Date(event.time).toISOString()).to.equal(event.time);
    }
  });

  it("gives each event the same unique id in every export, of the whole log or of one key", async () => {
    const events = await exported();
    expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
    expect(await exported()).to.deep.equal(events);
    expect(await exported("ab")).to.deep.equal(events.filter(({ subject }) => subject === "ab"));
  });

  it("sums up to the usage report", async () => {
    const { store } = temporary;
    const reportUsage = createUsageReport({ store, accounts: createUsageReader({ store }) });
    for (const apiKey of ["ab", "abc"]) {
      const sum = { characters: 0, requests: 0 };
      for (const { data } of await exported(apiKey)) {
        sum.characters += data.characters;
        sum.requests += data.requests;
      }
      expect(await reportUsage({ apiKey, month: "2026-11" })).to.include(sum);
    }
  });
});
