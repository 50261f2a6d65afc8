import { expect } from "chai";
import { keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { JournalTakenOver } from "../../../src/domain/ledger/journal/journal.ts";
import { QuotaExceeded } from "../../../src/domain/ledger/quota/quota.ts";
import {
  type CommandHandler,
  createCommandHandler,
  OutcomeUnknown,
} from "../../../src/eventstore/command-handler.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { createCarryOverUsage } from "../../../src/ledger/quota/carry-over.ts";
import { type Hold, Reservations } from "../../../src/ledger/quota/reservations.ts";
import { rejection } from "../../support/rejection.ts";
import { SimulatedLog, SimulatedProcess } from "./simulation.ts";

const apiKey = "vlk_1";
const month = "2026-11";
const quota = 1_000;

interface Instance {
  readonly process: SimulatedProcess;
  readonly handler: CommandHandler;
  readonly reservations: Reservations;
  isTakenOver: boolean;
}

describe("reservations of a journal", () => {
  let simulated: SimulatedLog;
  let fenced: string[];

  beforeEach(() => {
    simulated = new SimulatedLog({ seed: 1, loss: 0, maxLagMs: 0 });
    fenced = [];
  });

  const open = (
    journal: string,
    { spentBy = 0, waitForAppends = async () => {}, deadlineMs = 500 } = {},
  ): Instance => {
    const process = new SimulatedProcess(simulated);
    const { store, time } = process;
    const { clock } = simulated;
    const handler = createCommandHandler({ store, time, clock, deadlineMs });
    const reservations = new Reservations({
      ...{ journal, handler, store, time, clock, waitForAppends, fromExclusive: -1 },
      takeOver: async (other) => void fenced.push(other),
      spentBy: async () => spentBy,
      onTakenOver: () => {
        instance.isTakenOver = true;
      },
    });
    const instance: Instance = { process, handler, reservations, isTakenOver: false };
    return instance;
  };

  const pass = async (ms: number): Promise<void> => {
    let isOver = false;
    simulated.time.after(ms, () => {
      isOver = true;
    });
    await simulated.time.runUntil(() => isOver);
  };

  const inTime = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await simulated.time.runUntil(() => isSettled);
    return await promise;
  };

  const spend = async (reservations: Reservations, characters: number, limit = quota): Promise<void> => {
    while (!reservations.trySpend(keyNumberOf(apiKey), month, characters, limit)) {
      await inTime(reservations.reserve(apiKey, month, characters, limit));
    }
  };

  /** Type, journal and total of the quota's events. */
  const events = (): string[] =>
    simulated.log.all.map(({ type, data }) => {
      const { journal = "", total = "" } = JSON.parse(Buffer.from(data).toString("utf8"));
      return `${type} ${journal} ${total}`.trim();
    });

  it("are spent without further appends", async () => {
    const { reservations } = open("a");
    expect(reservations.trySpend(keyNumberOf(apiKey), month, 1, quota)).to.equal(false);
    for (let spent = 0; spent < 166; spent += 2) await spend(reservations, 2);
    expect(events()).to.deep.equal(["CharactersReserved a 167"]);
  });

  it("of several journals cost at most one append of each per 5 % of the quota", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      simulated = new SimulatedLog({ seed, loss: 0, maxLagMs: 50 });
      const instances = ["a", "b", "c"].map((journal) => open(journal, { deadlineMs: 5_000 }));
      const spendAll = async ({ reservations, process }: Instance): Promise<unknown> => {
        for (;;) {
          while (!reservations.trySpend(keyNumberOf(apiKey), month, 25, 20_000)) {
            const granted = reservations.reserve(apiKey, month, 25, 20_000);
            const refusal = await granted.catch((error: unknown) => error);
            if (refusal) return refusal;
          }
          await new Promise<void>((resolve) => process.time.after(1 + simulated.random() * 5, resolve));
        }
      };
      for (const refusal of await inTime(Promise.all(instances.map(spendAll)))) {
        expect(refusal).to.be.instanceOf(QuotaExceeded);
      }
      for (const journal of ["a", "b", "c"]) {
        const own = events().filter((event) => event.split(" ")[1] === journal);
        expect(own, `seed ${seed}`).to.have.length.within(1, 20);
      }
    }
  });

  it("count the characters of keys without a quota without any append", async () => {
    const { reservations } = open("a");
    expect(reservations.trySpend(keyNumberOf(apiKey), month, 5_000, null)).to.equal(true);
    reservations.refund(apiKey, month, 5);
    await inTime(reservations.close());
    expect(events()).to.deep.equal([]);
  });

  it("state the journal's whole month when the key receives a quota", async () => {
    const { reservations } = open("a");
    reservations.trySpend(keyNumberOf(apiKey), month, 700, null);
    await spend(reservations, 10);
    expect(events()).to.deep.equal(["CharactersReserved a 750"]);
  });

  it("share one command between requests that wait for another one", async () => {
    const { reservations } = open("a");
    const requests = [100, 200, 300].map(async (characters) => {
      await reservations.reserve(apiKey, month, characters, quota);
      expect(reservations.trySpend(keyNumberOf(apiKey), month, characters, quota)).to.equal(true);
    });
    await inTime(Promise.all(requests));
    expect(events()).to.deep.equal(["CharactersReserved a 167", "CharactersReserved a 600"]);
  });

  it("are returned after a minute without use, once", async () => {
    const { reservations } = open("a");
    await spend(reservations, 10);
    await pass(50_000);
    expect(events()).to.have.length(1);
    await pass(300_000);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 10"]);
    await spend(reservations, 10);
    expect(events().slice(2)).to.deep.equal(["CharactersReserved a 175"]);
  });

  it("are returned after a minute, too, if nothing of them was spent", async () => {
    const { reservations } = open("a");
    await inTime(reservations.reserve(apiKey, month, 10, quota));
    await pass(50_000);
    expect(events()).to.deep.equal(["CharactersReserved a 167"]);
    await pass(300_000);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 0"]);
  });

  it("leave no timer after their return", async () => {
    const { reservations } = open("a");
    await spend(reservations, 10);
    await simulated.time.runUntil(() => simulated.time.now() >= 600_000);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 10"]);
    expect(simulated.time.now()).to.be.below(600_000);
  });

  it("are returned on close, after the appends in flight", async () => {
    const appends = Promise.withResolvers<void>();
    const { reservations } = open("a", { waitForAppends: () => appends.promise });
    await spend(reservations, 10);
    await spend(reservations, 10);
    const closed = reservations.close();
    await pass(1_000);
    expect(events()).to.have.length(1);
    reservations.refund(apiKey, month, 10);
    appends.resolve();
    await inTime(closed);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 10"]);
    expect(await rejection(reservations.reserve(apiKey, month, 1, quota))).to.be.instanceOf(Unavailable);
  });

  it("are returned when another journal recalls them, before it is refused", async () => {
    const [a, b] = [open("a"), open("b")];
    await spend(a.reservations, 10);
    await spend(b.reservations, 990);
    expect(await rejection(spend(b.reservations, 1))).to.be.instanceOf(QuotaExceeded);
    expect(events().slice(1)).to.deep.equal([
      "ReservationsRecalled b",
      "ReservationReturned a 10",
      "CharactersReserved b 990",
    ]);
    expect(fenced).to.deep.equal([]);
  });

  it("are not refused because of a serving in flight that fails", async () => {
    const appends = Promise.withResolvers<void>();
    const { reservations } = open("a", { waitForAppends: () => appends.promise });
    await spend(reservations, quota);
    const last = reservations.reserve(apiKey, month, 10, quota);
    await pass(1_000);
    reservations.refund(apiKey, month, 10);
    appends.resolve();
    await inTime(last);
    expect(reservations.trySpend(keyNumberOf(apiKey), month, 10, quota)).to.equal(true);
    expect(await rejection(inTime(reservations.reserve(apiKey, month, 1, quota)))).to.be.instanceOf(
      QuotaExceeded,
    );
  });

  it("are not refused because of a serving that the next flush voids", async () => {
    const flushes = [Promise.resolve(), Promise.withResolvers<void>()] as const;
    let flush = 0;
    const { reservations } = open("a", {
      waitForAppends: () => (flush++ === 0 ? flushes[0] : flushes[1].promise),
    });
    await spend(reservations, quota);
    const last = reservations.reserve(apiKey, month, 10, quota);
    await pass(1_000);
    reservations.refund(apiKey, month, 10);
    flushes[1].resolve();
    await inTime(last);
    expect(reservations.trySpend(keyNumberOf(apiKey), month, 10, quota)).to.equal(true);
  });

  it("keep what is left after a refusal, without another append", async () => {
    const { reservations } = open("a");
    await spend(reservations, quota - 10);
    await spend(reservations, 5);
    const count = events().length;
    expect(await rejection(inTime(reservations.reserve(apiKey, month, 11, quota)))).to.be.instanceOf(
      QuotaExceeded,
    );
    expect(reservations.trySpend(keyNumberOf(apiKey), month, 5, quota)).to.equal(true);
    expect(events()).to.have.length(count);
  });

  it("are unavailable, not refused, while it is unknown whether servings in flight are recorded", async () => {
    const { reservations } = open("a", { waitForAppends: () => new Promise(() => {}) });
    await spend(reservations, quota);
    const refused = await rejection(inTime(reservations.reserve(apiKey, month, 10, quota)));
    expect(refused).to.be.instanceOf(Unavailable);
  });

  describe("with held characters that another journal recalls", () => {
    let appends: PromiseWithResolvers<void>;
    let a: Instance;
    let b: Instance;
    let hold: Hold;

    const startAppend = (): PromiseWithResolvers<void> => {
      appends = Promise.withResolvers();
      return appends;
    };

    const holdOnly = async (characters: number): Promise<void> => {
      await spend(a.reservations, quota);
      a.reservations.refund(apiKey, month, characters);
      hold = a.reservations.hold(apiKey, month, characters, quota) as Hold;
    };

    beforeEach(() => {
      startAppend().resolve();
      [a, b] = [open("a", { waitForAppends: () => appends.promise }), open("b")];
    });

    it("are not returned before the serving of the last ones is appended", async () => {
      await holdOnly(900);
      const reserved = b.reservations.reserve(apiKey, month, 10, quota);
      await pass(500);
      const append = startAppend();
      hold.take(a.reservations, month, 890);
      await pass(1_000);
      expect(events()).to.deep.equal(["CharactersReserved a 1000", "ReservationsRecalled b"]);
      append.resolve();
      await inTime(reserved);
      expect(events().slice(2)).to.deep.equal(["ReservationReturned a 990", "CharactersReserved b 10"]);
    });

    it("are not returned before that, if earlier servings are appended when the hold ends", async () => {
      await holdOnly(900);
      const earlier = startAppend();
      const refused = rejection(b.reservations.reserve(apiKey, month, 10, quota));
      await pass(500);
      const append = startAppend();
      hold.take(a.reservations, month, 900);
      earlier.resolve();
      await pass(500);
      expect(events()).to.deep.equal(["CharactersReserved a 1000", "ReservationsRecalled b"]);
      append.resolve();
      await pass(200); // the wait for a hold takes a second
      expect(events().slice(2)).to.deep.equal(["ReservationReturned a 1000"]);
      expect(await refused).to.be.instanceOf(QuotaExceeded);
    });

    it("are not returned if that serving is lost, because another process has closed the journal", async () => {
      await holdOnly(900);
      const reserved = b.reservations.reserve(apiKey, month, 10, quota);
      await pass(500);
      const append = startAppend();
      hold.take(a.reservations, month, 900);
      await pass(1_000);
      a.reservations.takenOver();
      append.resolve();
      await inTime(reserved);
      expect(fenced).to.deep.equal(["a"]);
      expect(events().slice(2)).to.deep.equal(["ReservationSettled a 0", "CharactersReserved b 167"]);
    });

    it("are returned by a close during the append that gives back the rest", async () => {
      await spend(a.reservations, 100);
      hold = a.reservations.hold(apiKey, month, 50, quota) as Hold;
      const reserved = b.reservations.reserve(apiKey, month, 900, quota);
      await simulated.time.runUntil(() => events().at(-1) === "CharactersReserved a 150");
      await inTime(Promise.all([a.reservations.close(), reserved]));
      expect(events()).to.include("ReservationReturned a 100");
      expect(fenced).to.deep.equal([]);
    });
  });

  it("of a journal that does not respond to a recall are settled", async () => {
    const [a, b] = [open("a"), open("b", { spentBy: 10 })];
    await spend(a.reservations, 10);
    a.process.freeze();
    const start = simulated.time.now();
    await spend(b.reservations, 990);
    expect(simulated.time.now() - start).to.be.within(2_000, 2_500);
    expect(fenced).to.deep.equal(["a"]);
    expect(events().slice(2)).to.deep.equal(["ReservationSettled a 10", "CharactersReserved b 990"]);
    a.process.thaw();
    await pass(1_000);
    expect(a.isTakenOver).to.equal(true);
    expect(a.reservations.trySpend(keyNumberOf(apiKey), month, 1, quota)).to.equal(false);
    expect(await rejection(a.reservations.reserve(apiKey, month, 1, quota))).to.be.instanceOf(
      JournalTakenOver,
    );
  });

  it("refuse an exhausted key at once, without an append", async () => {
    const { reservations } = open("a");
    await spend(reservations, quota);
    const before = events().length;
    const refusals = [1, 2, 3].map((characters) =>
      rejection(reservations.reserve(apiKey, month, characters, quota)),
    );
    for (const refusal of await inTime(Promise.all(refusals))) {
      expect(refusal).to.be.instanceOf(QuotaExceeded).that.includes({ used: quota, quota });
    }
    expect(events()).to.have.length(before);
  });

  it("are not spent under a quota that was lowered", async () => {
    const [a, b] = [open("a"), open("b")];
    await spend(b.reservations, 10);
    await spend(a.reservations, 10);
    expect(a.reservations.trySpend(keyNumberOf(apiKey), month, 1, 60)).to.equal(false);
    await spend(a.reservations, 40, 60);
    expect(events().slice(2)).to.include.members(["ReservationsRecalled a", "ReservationReturned b 10"]);
    expect(await rejection(spend(a.reservations, 1, 60))).to.be.instanceOf(QuotaExceeded);
  });

  it("are resolved after an append whose outcome is unknown", async () => {
    const { process, reservations } = open("a");
    const reserved = rejection(reservations.reserve(apiKey, month, 10, quota));
    await simulated.time.runUntil(() => events().length > 0);
    process.isCut = true;
    process.freeze();
    await pass(600);
    process.thaw();
    const error = await inTime(reserved);
    expect(error === undefined || error instanceof OutcomeUnknown).to.equal(true);
    process.isCut = false;
    await spend(reservations, 200);
    expect(events()).to.deep.equal(["CharactersReserved a 167", "CharactersReserved a 200"]);
  });

  it("of an unknown outcome are returned when they are recalled", async () => {
    const [a, b] = [open("a"), open("b")];
    const reserved = rejection(a.reservations.reserve(apiKey, month, 10, quota));
    await simulated.time.runUntil(() => events().length > 0);
    a.process.freeze();
    await pass(600);
    a.process.thaw();
    await inTime(reserved);
    await spend(b.reservations, quota);
    expect(events().at(-2)).to.equal("ReservationReturned a 0");
    expect(fenced).to.deep.equal([]);
  });

  it("state at once what is voided after a return, so that other journals can spend it", async () => {
    const [a, b] = [open("a"), open("b")];
    await spend(a.reservations, 100);
    await spend(b.reservations, 900);
    expect(await rejection(spend(b.reservations, 1))).to.be.instanceOf(QuotaExceeded);
    a.reservations.refund(apiKey, month, 20);
    a.reservations.refund(apiKey, month, 10);
    await pass(100); // for two requests to the store: the next regular check is seconds away
    await spend(b.reservations, 30);
    expect(events().slice(-3)).to.deep.equal([
      "CharactersReserved b 900",
      "ReservationReturned a 70",
      "CharactersReserved b 930",
    ]);
  });

  it("state what is voided while a return is appended", async () => {
    const { reservations } = open("a");
    await spend(reservations, 100);
    const closed = reservations.close();
    await simulated.time.runUntil(() => events().length === 2);
    reservations.refund(apiKey, month, 30);
    await inTime(closed);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 100", "ReservationReturned a 70"]);
  });

  it("state what is voided in a journal that reserved nothing", async () => {
    const { reservations } = open("a");
    reservations.refund(apiKey, month, 30);
    await pass(100);
    expect(events()).to.deep.equal(["ReservationReturned a -30"]);
  });

  it("state what is voided at the next regular check if the store cannot be reached", async () => {
    const { reservations, process } = open("a");
    await spend(reservations, 100);
    await pass(80_000);
    process.isCut = true;
    reservations.refund(apiKey, month, 30);
    await pass(1_000);
    process.isCut = false;
    await pass(10_000);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 100", "ReservationReturned a 70"]);
  });

  it("state at once what is voided after a return, also if a later reservation has an unknown outcome", async () => {
    const { reservations, process } = open("a");
    await spend(reservations, 100);
    await pass(80_000);
    process.isCut = true;
    await inTime(rejection(reservations.reserve(apiKey, month, 10, quota)));
    await pass(100); // Requests on their way are lost, too.
    process.isCut = false;
    reservations.refund(apiKey, month, 30);
    await pass(200);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 100", "ReservationReturned a 70"]);
  });

  it("state what is voided while they wait for others, which may need it", async () => {
    const [a, b] = [open("a"), open("b")];
    await spend(a.reservations, 100);
    await spend(b.reservations, 900);
    b.process.freeze();
    const waiting = a.reservations.reserve(apiKey, month, 40, quota);
    await pass(800); // what b has appended has arrived
    a.reservations.refund(apiKey, month, 30);
    await pass(100);
    expect(events().slice(-2)).to.deep.equal(["ReservationsRecalled a", "ReservationReturned a 70"]);
    b.process.thaw();
    expect(await rejection(inTime(waiting))).to.be.instanceOf(QuotaExceeded);
  });

  it("may overstate what is spent after a late void, or after their journal was closed by another process", async () => {
    const [a, b] = [open("a"), open("b")];
    await spend(a.reservations, 100);
    await inTime(a.reservations.close());
    expect(a.reservations.mayOverstate).to.equal(false);
    a.reservations.refund(apiKey, month, 30);
    expect(a.reservations.mayOverstate).to.equal(true);
    b.reservations.takenOver();
    expect(b.reservations.mayOverstate).to.equal(true);
  });

  it("may overstate what is spent after a void, if the response to their return was lost", async () => {
    const { reservations, process } = open("a");
    await spend(reservations, 100);
    const { append } = process.store;
    Object.assign(process.store, {
      append: async (...request: Parameters<typeof append>) => {
        await append(...request);
        throw new EventStoreUnavailable("the answer is lost");
      },
    });
    await simulated.time.runUntil(() => events().length === 2);
    expect(events().at(-1)).to.equal("ReservationReturned a 100");
    process.isCut = true;
    await pass(1_000);
    reservations.refund(apiKey, month, 30);
    await inTime(reservations.close());
    expect(events()).to.have.length(2);
    expect(reservations.mayOverstate).to.equal(true);
  });

  it("append nothing for a void while characters are held", async () => {
    const { reservations } = open("a");
    await spend(reservations, 100);
    reservations.refund(apiKey, month, 30);
    await pass(100);
    expect(events()).to.deep.equal(["CharactersReserved a 167"]);
  });

  it("correct usage that was carried over, and leave the rest of the quota", async () => {
    const [a, b] = [open("a"), open("b")];
    a.reservations.trySpend(keyNumberOf(apiKey), month, 400, null);
    const carryOver = createCarryOverUsage(
      b.handler,
      async () => [{ journal: "a", total: 300 }],
      simulated.clock,
    );
    await inTime(carryOver(apiKey, month));
    await pass(1_000);
    expect(events()).to.deep.equal(["UsageCarriedOver", "ReservationReturned a 400"]);
    await spend(b.reservations, 600);
    expect(await rejection(spend(b.reservations, 1))).to.be.instanceOf(QuotaExceeded);
  });

  it("forget the past month once its reservations are returned", async () => {
    const { reservations } = open("a");
    await spend(reservations, 10);
    reservations.trySpend(keyNumberOf(apiKey), "2026-12", 1, null);
    await pass(120_000);
    expect(events().slice(1)).to.deep.equal(["ReservationReturned a 10"]);
    reservations.refund(apiKey, month, 5);
    await pass(120_000);
    expect(events()).to.have.length(2);
  });
});
