import { setTimeout as delay } from "node:timers/promises";
import { systemTime } from "../../../src/async/time.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { createJournalRegistry, listOpenJournals } from "../../../src/ledger/journal/journal-registry.ts";
import { createRecoverJournal } from "../../../src/ledger/session/recover-journals.ts";
import { admin, synthesize } from "../../support/client.ts";
import { charactersPerText, type LimitedKey } from "./load.ts";
import type { RecordedServings } from "./recorded-servings.ts";

const thisMonth = (): string => new Date().toISOString().slice(0, 7);

const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`${what} is ${actual}, but must be ${expected}`);
};

/** The list of keys and the usage reports agree with the journals. */
export const checkReports = async (
  url: string,
  keys: readonly LimitedKey[],
  recorded: RecordedServings,
): Promise<void> => {
  const month = thisMonth();
  const { body } = await admin(url, "GET", "/keys?limit=1000");
  const listed = body.keys as { apiKey: string; usage: { characters: number } }[];
  await recorded.readOn();
  for (const { apiKey } of keys) {
    const inList = listed.find((key) => key.apiKey === apiKey)?.usage.characters;
    expectEqual(`the listed usage of ${apiKey}`, inList, recorded.charged(apiKey, month));
  }
  for (const { apiKey } of keys) {
    const report = await readReport(url, `/keys/${apiKey}/usage?month=${month}`);
    if (report.characters !== recorded.charged(apiKey, month)) await recorded.readOn();
    expectEqual(`the reported usage of ${apiKey}`, report.characters, recorded.charged(apiKey, month));
  }
};

/** Repeats the request a few times if the machine is too busy to read the report in time. */
const readReport = async (url: string, path: string): Promise<Record<string, unknown>> => {
  for (let attempt = 1; ; attempt++) {
    const { status, body } = await admin(url, "GET", path);
    if (status === 200) return body;
    if (status !== 503 || attempt === 10) throw new Error(`${path} got ${status} in attempt ${attempt}`);
    await delay(1_000);
  }
};

/**
 * No key was refused that had characters left, and none stay reserved: the rest of each quota can
 * be used.
 */
export const checkQuotas = async (
  url: string,
  keys: readonly LimitedKey[],
  recorded: RecordedServings,
): Promise<void> => {
  const month = thisMonth();
  for (const key of keys) {
    const { apiKey, quota } = key;
    if (quota === null) continue;
    await recorded.readOn();
    const used = recorded.charged(apiKey, month);
    const { body } = await admin(url, "GET", `/keys/${apiKey}`);
    if (body.status === "suspended" && quota - used >= charactersPerText && !recorded.hasVoids(apiKey)) {
      throw new Error(`${apiKey} was suspended with ${used} of ${quota} characters used`);
    }
    await useUp(url, key, used, recorded);
  }
};

/**
 * With a quota of one more text than is used, one text is served, and not a character more. The
 * void of a repeat that a killed instance has charged may make room meanwhile. A suspended key is
 * reinstated: a void lifts no suspension, and the quota may be lower than before.
 */
const useUp = async (
  url: string,
  key: LimitedKey,
  used: number,
  recorded: RecordedServings,
): Promise<void> => {
  const plan = {
    tier: "enterprise",
    requestsPerMinute: 1_000_000,
    monthlyCharacters: used + charactersPerText,
  };
  const changed = await admin(url, "PUT", `/keys/${key.apiKey}/plan`, plan);
  expectEqual("the answer to a change of the plan", changed.status, 200);
  if (changed.body.status === "suspended") {
    const reinstated = await admin(url, "POST", `/keys/${key.apiKey}/reinstate`, {});
    expectEqual("the answer to a reinstatement", reinstated.status, 200);
  }
  const speak = async (text: string): Promise<number> =>
    (await synthesize(url, key, { voice: "UK English Female", text })).status;
  expectEqual(`the answer to the last text of ${key.apiKey}`, await speak("ten chars!"), 200);
  const further = await speak("x");
  if (further === 200) {
    await recorded.readOn();
    recorded.checkQuota(key.apiKey, plan.monthlyCharacters);
  } else expectEqual(`the answer to one more character of ${key.apiKey}`, further, 403);
};

/** Settles the journals of killed processes, as a sweep does after 15 minutes. */
export const settleJournals = async (store: EventStore): Promise<void> => {
  const handler = createCommandHandler({ store });
  const settle = createRecoverJournal({
    store,
    handler,
    clock: Date.now,
    time: systemTime,
    onError: (what, error) => {
      throw new Error(what, { cause: error });
    },
    registry: createJournalRegistry(handler, Date.now),
    recoverIdempotencyKeys: async () => {},
    closeJournal: (journal, reason) => closeJournal(store, Date.now, journal, reason),
  });
  for (const journal of await listOpenJournals(store)) await settle(journal, "silent");
  expectEqual("the number of open journals", (await listOpenJournals(store)).length, 0);
};

/** All servings are posted: the accounts agree with the journals. */
export const checkAccounts = async (
  store: EventStore,
  keys: readonly LimitedKey[],
  recorded: RecordedServings,
): Promise<void> => {
  const month = thisMonth();
  const accounts = createUsageReader({ store });
  for (const { apiKey } of keys) {
    const { characters } = await accounts.usageOf({ apiKey, month });
    expectEqual(`the posted usage of ${apiKey}`, characters, recorded.charged(apiKey, month));
  }
};
