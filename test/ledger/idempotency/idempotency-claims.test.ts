import { expect } from "chai";
import fc from "fast-check";
import { pipelineLimits } from "../../../src/audio/pipeline/pipeline-limits.ts";
import { Invalid, Unavailable } from "../../../src/domain/errors.ts";
import {
  claimKey,
  type IdempotencyEvent,
  idempotencyDecider,
  recordRepeat,
  recordUse,
  recoverUse,
  releaseKey,
} from "../../../src/domain/ledger/idempotency.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import type { Admission } from "../../../src/ledger/ledger.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, readLedger, record } from "../../support/test-ledger.ts";

const start = Date.parse("2026-11-21T10:00:00.000Z");
const principal = testPrincipal();
const never = new AbortController().signal;
const keyed = (requestId: string, request = "same") => ({
  requestId,
  characters: 11,
  idempotency: { key: "digest", request },
});

interface Process {
  readonly opened: OpenLedger;
  readonly time: ManualTime;
}

describe("claims of Idempotency-Keys", () => {
  const temporary = duringTest(openTemporaryStore);
  let processes: Process[];
  /** Calls of the event store without a response. */
  let calls: number;
  /** True if no append to the stream of the key arrives any more. */
  let isGone: boolean;

  beforeEach(async () => {
    processes = [];
    calls = 0;
    isGone = false;
  });
  afterEach(async () => {
    isGone = false;
    for (const { opened, time } of processes) {
      const closed = opened.close(1);
      time.advance(1);
      await closed;
    }
  });

  const inStore = async <T>(call: () => Promise<T>): Promise<T> => {
    calls++;
    return await call().finally(() => calls--);
  };
  /** Resolves when no process waits for the event store. */
  const quiet = async (): Promise<void> => {
    for (let turns = 0; turns < 10; turns++) {
      await new Promise(setImmediate);
      if (calls > 0) turns = 0;
    }
  };
  const open = async (store: EventStore = temporary.store): Promise<Process> => {
    const time = createManualTime();
    const followed: EventStore = {
      ...store,
      append: (...request) => inStore(() => store.append(...request)),
      readStream: async function* (...request) {
        yield* await inStore(() => collect(store.readStream(...request)));
      },
    };
    const opened = await openTestLedger(followed, () => start + time.now(), {
      time,
      onError: () => {},
    });
    processes.push({ opened, time });
    return { opened, time };
  };
  /** A process that is killed when the test says so. */
  const mortal = (): EventStore => ({
    ...temporary.store,
    append: async (stream, events, expected) => {
      if (isGone) throw new EventStoreUnavailable("the process is gone");
      return await temporary.store.append(stream, events, expected);
    },
  });
  const admit = (
    { opened }: Process,
    requestId: string,
    request?: string,
    signal = never,
  ): Promise<Admission> => opened.ledger.admit(principal, keyed(requestId, request), signal);
  const charge = ({ opened }: Process, requestId: string, admission: Admission): Promise<number> =>
    new Promise((resolve, reject) =>
      opened.ledger.record(
        principal,
        servedAudio(keyed(requestId)),
        (error, receipt) => (receipt ? resolve(receipt.serving.characters) : reject(error)),
        admission,
      ),
    );
  /**
   * Lets time pass in the process, and awaits its responses to each step, until the promise
   * settles.
   */
  const passUntil = async <T>({ time }: Process, promise: Promise<T>, others: Process[] = []): Promise<T> => {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (await quiet(); !isSettled; await quiet())
      for (const each of [time, ...others.map((other) => other.time)]) each.advance(100);
    return await promise;
  };
  const charged = async (): Promise<number> => {
    for (const { opened } of processes) await opened.drained();
    const { servings, voided } = await readLedger(temporary.store);
    const sum = (entries: readonly { characters: number }[]) =>
      entries.reduce((total, { characters }) => total + characters, 0);
    return sum(servings) - sum(voided);
  };

  it("make a repeat on another instance wait for the first request, and then free", async () => {
    const [first, second] = [await open(), await open()];
    const admission = await admit(first, "r-1");
    const repeated = admit(second, "r-2");
    await quiet();
    expect(await charge(first, "r-1", admission)).to.equal(11);
    expect(await passUntil(second, repeated)).to.include({ isRepeat: true });
  });

  it("refuse another request with the key at once, on every instance", async () => {
    const [first, second] = [await open(), await open()];
    await admit(first, "r-1");
    for (const process of [first, second])
      expect(await rejection(admit(process, "r-2", "other"))).to.be.instanceOf(Invalid);
  });

  it("admit a repeat as the first request when that was not charged", async () => {
    const [first, second] = [await open(), await open()];
    const admission = await admit(first, "r-1");
    const repeated = admit(second, "r-2");
    admission.release();
    const next = await passUntil(second, repeated);
    expect(next.isRepeat).to.equal(false);
    expect(await charge(second, "r-2", next)).to.equal(11);
  });

  it("end with the journal that they name", async () => {
    const [first, second] = [await open(), await open()];
    await record(first.opened.ledger, principal, servedAudio({ requestId: "r-0" }));
    await admit(first, "r-1");
    const closed = first.opened.close(5_000);
    await passUntil(first, closed);
    processes.shift();
    expect(await admit(second, "r-2")).to.include({ isRepeat: false });
  });

  it("are taken over within eleven seconds from a process that was killed", async () => {
    const [gone, other] = [await open(mortal()), await open()];
    await admit(gone, "r-1");
    isGone = true;
    const began = other.time.now();
    const next = await passUntil(other, admit(other, "r-2"));
    expect(next.isRepeat).to.equal(false);
    expect(other.time.now() - began).to.be.within(10_000, 11_500);
    expect(await charge(other, "r-2", next)).to.equal(11);
  });

  it("charge once although a process whose claim was taken over continues", async () => {
    const [slow, other] = [await open(mortal()), await open()];
    const first = await admit(slow, "r-1");
    isGone = true;
    const second = await passUntil(other, admit(other, "r-2"));
    isGone = false;
    const charges = [charge(slow, "r-1", first), charge(other, "r-2", second)];
    await Promise.all(charges);
    expect(await charged()).to.equal(11);
  });

  it("are not taken over while their process renews them; the repeat is refused after 30 s", async () => {
    const [first, second] = [await open(), await open()];
    await admit(first, "r-1");
    const repeated = rejection(admit(second, "r-2"));
    expect(await passUntil(second, repeated, [first])).to.be.instanceOf(Unavailable);
    expect(second.time.now()).to.be.within(30_000, 31_000);
    const journals = await readLedger(temporary.store);
    expect(journals.servings).to.deep.equal([]);
  });

  it("are released by a process whose request lasts longer than whole audio may take", async () => {
    const [first, second] = [await open(), await open()];
    await admit(first, "r-1");
    const passOnFirst = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 4_000) {
        first.time.advance(4_000);
        await quiet();
      }
    };
    await passOnFirst(pipelineLimits.completeMs + 60_000);
    expect(await passUntil(second, rejection(admit(second, "r-2")), [first])).to.be.instanceOf(Unavailable);
    await passOnFirst(60_000);
    expect(await admit(second, "r-3")).to.include({ isRepeat: false });
  });

  it("are not kept for a client that has left while it waited", async () => {
    const process = await open();
    const first = await admit(process, "r-1");
    const leaving = new AbortController();
    const waiting = rejection(admit(process, "r-2", undefined, leaving.signal));
    await quiet();
    leaving.abort(new Error("left"));
    expect(await waiting).to.have.property("message", "left");
    first.release();
    expect(await admit(process, "r-3")).to.include({ isRepeat: false });
  });

  it("cost one append more than a request without a key before it, and none when it is repeated", async () => {
    const process = await open();
    await charge(process, "r-1", await admit(process, "r-1"));
    await charge(process, "r-2", await admit(process, "r-2"));
    const events = await collect(temporary.store.readStream("idempotency-k-digest"));
    expect(events.map(({ type }) => type)).to.deep.equal([
      "IdempotencyKeyClaimed",
      "IdempotencyKeyUsed",
      "IdempotencyKeyUsed",
    ]);
  });

  it("have no effect in versions without claims, which fold every other event as a use", () => {
    const { initial, evolve } = idempotencyDecider;
    const at = new Date(start).toISOString();
    const use = { ...keyed("r-1").idempotency, requestId: "r-1", at };
    const [claim] = claimKey(initial(), use, "j", () => false) as [IdempotencyEvent];
    const used: IdempotencyEvent = {
      type: "IdempotencyKeyUsed",
      data: { requestId: "r-1", request: "same", at },
    };
    const fold = (events: readonly IdempotencyEvent[]) =>
      events.reduce(evolveWithoutClaims, { charged: undefined, repeats: 0, requests: [] });
    expect(fold([claim])).to.deep.include({ charged: undefined, requests: [undefined] });
    expect(fold([claim, used])).to.deep.include({ charged: used.data, repeats: 0 });
    expect(evolve(evolve(initial(), claim), used)).to.deep.include({ charged: used.data, claim: undefined });
  });
});

interface StateWithoutClaims {
  readonly charged: unknown;
  readonly repeats: number;
  readonly requests: readonly unknown[];
}

/** The fold of the versions before claims. */
const evolveWithoutClaims = (
  before: StateWithoutClaims,
  { type, data }: { readonly type: string; readonly data: object },
): StateWithoutClaims => {
  const { requestId, repeat } = data as { requestId?: string; repeat?: boolean };
  const state = { ...before, requests: [...before.requests, requestId] };
  if (type === "IdempotencyKeyReleased") return state;
  return repeat ? { ...state, repeats: state.repeats + 1 } : { ...state, charged: data, repeats: 0 };
};

/** Requests with one key, each of a process with a journal of its own. */
const createKeyModel = () => {
  const { initial, evolve } = idempotencyDecider;
  let state = initial();
  const closed = new Set<string>();
  const inProgress = new Set<number>();
  const charged = new Set<string>();
  const problems: string[] = [];
  const journalOf = (request: number): string => `journal-${request}`;
  const useOf = (request: number) => ({
    ...keyed(`r-${request}`).idempotency,
    requestId: `r-${request}`,
    at: new Date(start).toISOString(),
  });

  const append = (events: readonly IdempotencyEvent[]): boolean => {
    for (const event of events) {
      state = evolve(state, event);
      if (event.type === "IdempotencyKeyReleased") charged.delete(event.data.requestId);
      if (event.type === "IdempotencyKeyUsed" && !event.data.repeat) charged.add(event.data.requestId);
    }
    const open = [...inProgress].filter((request) => !closed.has(journalOf(request)));
    if (open.length > 1) problems.push(`${open} are in progress`);
    if (charged.size > 1) problems.push(`${[...charged]} are charged`);
    return events.length > 0;
  };
  return {
    problems,
    claim: (request: number): void => {
      if (inProgress.has(request) || closed.has(journalOf(request))) return;
      const events = claimKey(state, useOf(request), journalOf(request), (journal) => closed.has(journal));
      if (events.length > 0) inProgress.add(request);
      append(events);
    },
    use: (request: number): void => {
      if (inProgress.delete(request)) append(recordUse(state, useOf(request)));
    },
    release: (request: number): void => {
      inProgress.delete(request);
      append(releaseKey(state, useOf(request)));
    },
    close: (request: number): void => void closed.add(journalOf(request)),
    /** Records the use of a request that was charged, and whose process did not record that. */
    recover: (request: number): void => {
      if (closed.has(journalOf(request)) && inProgress.delete(request))
        append(recoverUse(state, useOf(request)));
    },
    repeat: (request: number): void => void append(recordRepeat(state, useOf(request))),
  };
};

describe("an Idempotency-Key that several processes use, on random schedules", () => {
  const requests = 6;
  const step = fc.record({
    request: fc.nat(requests - 1),
    what: fc.constantFrom("claim", "use", "release", "close", "recover", "repeat"),
  });

  it("is in progress for one request at most, and charged at most once between releases", () => {
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const key = createKeyModel();
      for (const { request, what } of steps) key[what](request);
      expect(key.problems).to.deep.equal([]);
    });
    fc.assert(property, { numRuns: 2_000 });
  });
});
