import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { type ClockCheck, createClockCheck } from "../../../src/application/clock/clock-check.ts";
import { requireMeasuredClock } from "../../../src/bootstrap/event-log/open-event-store.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { withAppendTimes } from "../../../src/eventstore/append-times.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { read, readLog } from "../../contracts/event-store/events.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

/** The time of `startInProcessService`. */
const start = Date.UTC(2026, 10, 5, 10);

/** A version 7 UUID of exactly this time. The times of `uuidv7` never decrease within a process. */
const idOf = (time: number): string => {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`;
};

/** Clocks of the event store, of this process, and of its uptime. */
interface Clocks {
  store: number;
  own: number;
  uptime: number;
}

const onSqlite = async (clocks: Clocks) => {
  const { folder, remove } = await openTemporaryStore();
  const log = await openSqliteEventStore({ path: join(folder, "other.db"), clock: () => clocks.store });
  return {
    log,
    end: async () => {
      await log.close();
      await remove();
    },
  };
};

const onEventStoreDB = async (clocks: Clocks) => {
  const node = await startEventStoreDBNode({ clock: () => clocks.store });
  const log = await openEventStoreDB({ url: node.url });
  return {
    log,
    end: async () => {
      await log.close();
      await node.close();
    },
  };
};

for (const [driver, open] of [
  ["SQLite", onSqlite],
  ["EventStoreDB", onEventStoreDB],
] as const) {
  describe(`the difference to the clock of ${driver}`, () => {
    let clocks: Clocks;
    let log: EventStore;
    let store: EventStore;
    let difference: ClockCheck;
    let warnings: string[];
    let end: () => Promise<void>;

    beforeEach(async () => {
      clocks = { store: start, own: start, uptime: 0 };
      ({ log, end } = await open(clocks));
      warnings = [];
      difference = createClockCheck({
        clocks: {
          clock: () => clocks.own,
          uptime: () => clocks.uptime,
        },
        isStoreElsewhere: () => driver === "EventStoreDB",
        onWarning: (message) => warnings.push(message),
      });
      store = measured(log);
    });
    afterEach(() => end());

    const measured = (measuredStore: EventStore): EventStore =>
      withAppendTimes(measuredStore, {
        clock: () => clocks.own,
        time: { now: () => clocks.uptime },
        onTimes: difference.observe,
        isProbeNeeded: difference.isProbeNeeded,
      });

    const pass = (ms: number): void => {
      clocks.own += ms;
      clocks.store += ms;
      clocks.uptime += ms;
    };

    const appended = { type: "SomethingHappened", data: {}, metadata: {} };
    const append = (to = store, id = idOf(clocks.own)) => to.append("s", [{ id, ...appended }], "any");

    it("is measured by the first append, before it resolves", async () => {
      expect(difference.milliseconds).to.equal(undefined);
      await append();
      expect(difference.milliseconds).to.equal(0);
      expect(difference.note()).to.equal(undefined);
      difference.throwIfClockIsWrong();
      expect(warnings).to.deep.equal([]);
    });

    it("is measured again before something that must not happen with a wrong clock, after the clock was set", async () => {
      const requireClock = requireMeasuredClock(store, difference);
      await append();
      await requireClock();
      clocks.own += 61_000;
      expect(difference.isClockRight()).to.equal(false);
      expect(await rejection(requireClock())).to.be.instanceOf(Unavailable); // measured less than 10 s ago
      pass(10_000);
      const message =
        driver === "EventStoreDB" ? "61.0 s ahead of the event store's" : "was set forward by 61.0 s";
      expect(String(await rejection(requireClock()))).to.contain(message);
      clocks.own -= 61_000;
      pass(10_000);
      await requireClock();
    });

    it("above 2 s is a warning, once, and nothing is refused", async () => {
      clocks.store += 2_001;
      await append();
      const warning = "the clock of this machine is 2.0 s behind the event store's";
      expect(difference.milliseconds).to.equal(2_001);
      expect(difference.note()).to.equal(warning);
      difference.throwIfClockIsWrong();
      difference.observe({ created: start + 2_500, sent: start, acknowledged: start });
      expect(warnings).to.deep.equal([warning]);
    });

    it("above 60 s refuses, until a ping finds that the clock is right again", async () => {
      clocks.store += 60_001;
      await append();
      expect(() => difference.throwIfClockIsWrong()).to.throw(Unavailable, "60.0 s behind the event store's");
      clocks.own += 60_000;
      await store.ping();
      expect(() => difference.throwIfClockIsWrong(), "at most one measurement in 10 s").to.throw(Unavailable);
      pass(10_000);
      await store.ping();
      while (difference.milliseconds !== 1) await read(log, "health");
      difference.throwIfClockIsWrong();
      expect(await read(log, "health")).to.have.length(1);
    });

    it("has the sign of a clock that is ahead, if the store's is behind", async () => {
      clocks.store -= 61_000;
      await append();
      expect(difference.milliseconds).to.equal(-61_000);
      expect(() => difference.throwIfClockIsWrong()).to.throw(
        Unavailable,
        "61.0 s ahead of the event store's",
      );
    });

    it("is measured at a start without appends by a ping, once", async () => {
      await store.ping();
      expect(difference.milliseconds).to.equal(0);
      clocks.uptime += 60_000;
      await store.ping();
      expect(await read(log, "health")).to.have.length(1);
    });

    it("is measured by a ping although another process's ping replaces its event at once", async () => {
      const contended = measured({
        ...log,
        append: async (stream, ...given) => {
          const result = await log.append(stream, ...given);
          await log.append(stream, [{ id: randomUUID(), ...appended }], "any");
          return result;
        },
      });
      clocks.store -= 61_000;
      await contended.ping();
      expect(difference.milliseconds).to.equal(-61_000);
    });

    it("does not include the duration of a slow append", async () => {
      const slow = measured({
        ...log,
        append: async (...given) => {
          pass(70_000);
          const result = await log.append(...given);
          pass(70_000);
          return result;
        },
      });
      await append(slow);
      expect(difference.milliseconds).to.equal(0);
    });

    it("is right after the repeat of an append whose response was lost", async () => {
      const id = idOf(clocks.own);
      let calls = 0;
      const lossy = measured({
        ...log,
        append: async (...given) => {
          const result = await log.append(...given);
          if (calls++ === 0) throw new EventStoreUnavailable("the answer was lost");
          return result;
        },
      });
      await append(lossy, id).catch(() => {});
      pass(120_000);
      await append(lossy, id);
      expect(difference.milliseconds).to.equal(0);
    });

    it("is not measured by ids without a time", async () => {
      await append(store, "7d444840-9dc0-41d1-b245-5ffdce74fad2");
      expect(difference.milliseconds).to.equal(undefined);
      expect(await readLog(log)).to.have.length(1);
    });
  });
}

describe("an instance whose clock is wrong", () => {
  it("is not ready, and names the reason", async () => {
    const { folder, remove } = await openTemporaryStore();
    const env = { EVENT_STORE: `sqlite:${join(folder, "ahead.db")}` };
    const ahead = await startInProcessService(env, undefined, { now: start + 3_600_000 });
    await ahead.close();
    const service = await startInProcessService(env);
    const detail = "Nothing is recorded: the clock of this machine is 3600.0 s behind the event store's. ";
    for (const [check, member] of [
      ["/health", "parts"],
      ["/health/ready", "dependencies"],
    ] as const) {
      const { status, text } = await ask(service.url + check);
      expect(status).to.equal(503);
      expect(JSON.stringify(JSON.parse(text)[member])).to.include(JSON.stringify(detail).slice(1, -1));
    }
    expect((await ask(`${service.url}/health/live`)).status).to.equal(200);
    await service.close();
    await remove();
  });
});
