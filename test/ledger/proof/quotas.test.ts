import { expect } from "chai";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing } from "./sealed-store.ts";

type Step = (log: ReturnType<typeof sealing>["log"]) => Promise<void>;

const stream = "quota-k1-2026-11";
const plan = (monthlyCharacters: number | null) => ({
  tier: "enterprise",
  requestsPerMinute: 1,
  monthlyCharacters,
});
const issue =
  (monthlyCharacters: number | null): Step =>
  (log) =>
    log.append("key-k1", "KeyIssued", { apiKey: "k1", websiteId: "w", plan: plan(monthlyCharacters) });
const changePlan =
  (monthlyCharacters: number | null): Step =>
  (log) =>
    log.append("key-k1", "PlanChanged", { plan: plan(monthlyCharacters) });
const open =
  (journal: string): Step =>
  (log) =>
    log.openJournal(journal);
const serve =
  (journal: string, ...characters: number[]): Step =>
  (log) =>
    log.serve(journal, "k1", characters);
const voidServing =
  (journal: string, characters: number): Step =>
  (log) => {
    const voided = { apiKey: "k1", requestId: "r", characters, hash: "5", engine: "g1", voice: "v" };
    const servings = [{ ...voided, servedAt: log.now(), reason: "unanswered" }];
    return log.extend(journal, "ServingsVoided", { servings });
  };
const close =
  (journal: string): Step =>
  (log) =>
    log.close(journal);
const total =
  (type: "CharactersReserved" | "ReservationReturned" | "ReservationSettled") =>
  (journal: string, characters: number): Step =>
  (log) =>
    log.append(stream, type, { journal, total: characters });
const reserve = total("CharactersReserved");
const giveBack = total("ReservationReturned");
const settle = total("ReservationSettled");

describe("the verification of quotas", () => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await openTemporaryStore();
  });
  afterEach(() => temporary.remove());

  const write = async (...steps: Step[]): Promise<void> => {
    const { log, seals } = sealing(temporary.store);
    for (const step of steps) await step(log);
    await seals.seal({ actor: "system" });
  };
  const verify = () => verifyLog(temporary.store, { keys });
  const problem = async (...steps: Step[]): Promise<string> => {
    await write(...steps);
    return String(await rejection(verify()));
  };

  it("accepts reservations within the plan, returns and settlements that the journals give", async () => {
    await write(
      issue(100),
      open("j1"),
      open("j2"),
      reserve("j1", 60),
      serve("j1", 20, 30),
      reserve("j2", 40),
      voidServing("j1", 30),
      giveBack("j1", 20),
      close("j1"),
      close("j2"),
      settle("j2", 0),
      open("j3"),
      reserve("j3", 80),
      serve("j3", 80),
    );
    expect((await verify()).events).to.be.above(14);
  });

  it("finds a serving that no reservation covers, and names it", async () => {
    expect(await problem(issue(100), open("j1"), reserve("j1", 10), serve("j1", 5), serve("j1", 6))).to.match(
      /journal-j1 revision 1 \(SynthesesServed, position \d+\) charges k1 beyond its reservation: 11 .* has 10/,
    );
  });

  it("finds a serving after its journal has returned what it reserved", async () => {
    const steps = [
      issue(100),
      open("j1"),
      reserve("j1", 10),
      serve("j1", 5),
      giveBack("j1", 5),
      serve("j1", 1),
    ];
    expect(await problem(...steps)).to.include("charges k1 beyond its reservation");
  });

  it("finds a reservation above the quota of all journals together", async () => {
    expect(await problem(issue(100), open("j1"), open("j2"), reserve("j1", 60), reserve("j2", 41))).to.match(
      /quota-k1-2026-11 revision 1 \(CharactersReserved, position \d+\) raises the reserved characters to 101, above the quota of 100/,
    );
  });

  it("finds a return of characters that are spent", async () => {
    expect(
      await problem(issue(100), open("j1"), reserve("j1", 60), serve("j1", 50), giveBack("j1", 49)),
    ).to.include("states 49 characters for journal j1, which has spent at least 50");
  });

  it("finds a settlement with another total than the journal's, in either direction", async () => {
    const steps = [issue(100), open("j1"), reserve("j1", 60), serve("j1", 50), close("j1")];
    expect(await problem(...steps, settle("j1", 51))).to.include(
      "states 51 characters for journal j1, which has spent 50",
    );
    await temporary.remove();
    temporary = await openTemporaryStore();
    expect(await problem(...steps, settle("j1", 49))).to.include("which has spent 50");
  });

  it("finds the settlement of a journal that is not closed", async () => {
    expect(await problem(issue(100), open("j1"), reserve("j1", 60), settle("j1", 0))).to.include(
      "settles a journal that is not closed",
    );
  });

  it("applies a previous plan to requests that were admitted before it was changed", async () => {
    await write(issue(100), open("j1"), changePlan(50), reserve("j1", 60), serve("j1", 60));
    await verify();
  });

  it("accepts the negative total of a journal that voids what another one has charged a key without a quota", async () => {
    await write(
      issue(null),
      open("j1"),
      open("j2"),
      serve("j1", 50),
      voidServing("j2", 20),
      giveBack("j2", -20),
      changePlan(100),
      reserve("j2", 40),
      serve("j2", 30),
      giveBack("j2", 10),
    );
    expect((await verify()).events).to.be.above(9);
  });

  it("finds a negative total without a void", async () => {
    expect(await problem(issue(null), open("j1"), giveBack("j1", -20))).to.include(
      "states -20 characters for journal j1, which has spent at least 0",
    );
  });

  it("does not limit keys whose plan has no quota, and counts what they spend from their first quota on", async () => {
    await write(issue(null), open("j1"), serve("j1", 1_000), changePlan(50), serve("j1", 7), close("j1"));
    await verify();
  });
});
