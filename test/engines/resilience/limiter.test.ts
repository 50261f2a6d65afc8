import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import { createLimiter, type LimiterOptions } from "../../../src/engines/resilience/limiter.ts";
import { createManualClock, until } from "../../support/manual-clock.ts";
import { rejection } from "../../support/rejection.ts";

const never = new AbortController().signal;

const open = (limits: Partial<LimiterOptions> = {}) => {
  const clock = createManualClock();
  const turns = createLimiter(
    { concurrency: 2, perMinute: 100, queueLimit: 3, queueMs: 1_000, ...limits },
    clock,
  );
  /** Takes so many, and lists their numbers as they get their turns. */
  const began: number[] = [];
  const take = (number: number, options = {}) =>
    turns.acquire(never, options).then((release) => {
      began.push(number);
      return release;
    });
  return { clock, turns, take, began };
};

describe("Turns at an upstream", () => {
  it("are taken by no more than there may be at once, the others in order of arrival", async () => {
    const { turns, take, began } = open({ queueLimit: 4 });
    const [first, second, third, fourth] = [take(1), take(2), take(3), take(4)];
    const releaseSecond = await second;
    await first;
    expect(turns.stats()).to.deep.equal({ taken: 2, waiting: 2 });
    releaseSecond();
    (await third)();
    await fourth;
    expect(began).to.deep.equal([1, 2, 3, 4]);
    expect(turns.stats()).to.deep.equal({ taken: 2, waiting: 0 });
  });

  it("are given back once, however often it is said", async () => {
    const { turns, take } = open();
    const release = await take(1);
    release();
    release();
    expect(turns.stats().taken).to.equal(0);
  });

  it("begin no oftener in any minute than they may", async () => {
    const { clock, turns, take, began } = open({ perMinute: 3, queueMs: 600_000 });
    (await take(1))();
    clock.advance(30_000);
    (await take(2))();
    (await take(3))();
    const late = [take(4), take(5)];
    clock.advance(29_999);
    await until(() => turns.stats().waiting === 2);
    expect(began).to.deep.equal([1, 2, 3]);
    clock.advance(1);
    await late[0];
    expect(began).to.deep.equal([1, 2, 3, 4]);
    clock.advance(30_000);
    await late[1];
  });

  it("are refused when the queue is full", async () => {
    const { turns, take } = open();
    const release = await take(1);
    await take(2);
    const waiting = [take(3), take(4), take(5)];
    const failure = await rejection(take(6));
    expect(failure).to.be.instanceOf(Unavailable);
    expect((failure as Unavailable).retryAfterSeconds).to.be.above(0);
    expect(turns.stats().waiting).to.equal(3);
    release();
    await waiting[0];
  });

  it("are refused to who has waited too long", async () => {
    const { clock, turns, take } = open();
    await take(1);
    await take(2);
    const waiting = rejection(take(3));
    clock.advance(1_000);
    expect(await waiting).to.be.instanceOf(Unavailable);
    expect(turns.stats()).to.deep.equal({ taken: 2, waiting: 0 });
  });

  it("come first to who goes on with a sound, for as long as it takes and whatever the queue", async () => {
    const { clock, take, began } = open({ queueLimit: 1 });
    const release = await take(1);
    await take(2);
    const waiting = rejection(take(3));
    const goingOn = take(4, { isContinuation: true });
    clock.advance(3_600_000);
    await waiting;
    const another = take(5);
    release();
    (await goingOn)();
    await another;
    expect(began).to.deep.equal([1, 2, 4, 5]);
  });

  it("are left by who is aborted, at once and with the signal's reason", async () => {
    const { clock, turns, take, began } = open();
    const release = await take(1);
    const controller = new AbortController();
    await take(2);
    const left = rejection(turns.acquire(controller.signal));
    const next = take(3);
    const reason = new Error("nobody wants it");
    controller.abort(reason);
    expect(await left).to.equal(reason);
    expect(await rejection(turns.acquire(controller.signal))).to.equal(reason);
    expect(turns.stats()).to.deep.equal({ taken: 2, waiting: 1 });
    release();
    await next;
    expect(began).to.deep.equal([1, 2, 3]);
    expect(clock.waiting()).to.equal(1); // one for the minute of all three, and no wait
  });

  it("lie ready again after those who wanted them have left", async () => {
    const { turns, take } = open({ perMinute: 4 });
    const releases = [await take(1), await take(2)];
    for (let round = 0; round < 50; round++) {
      const controller = new AbortController();
      const left = [0, 1, 2].map(() => rejection(turns.acquire(controller.signal)));
      controller.abort();
      await Promise.all(left);
    }
    for (const release of releases) release();
    // Of the four in this minute two are left: who left has used up none.
    await take(3);
    await take(4);
    expect(turns.stats()).to.deep.equal({ taken: 2, waiting: 0 });
  });
});
