import { expect } from "chai";
import fc from "fast-check";
import { type ByteBudget, createByteBudget } from "../../src/async/byte-budget.ts";
import { createManualTime, type ManualTime, until } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;

describe("A byte budget", () => {
  let time: ManualTime;
  let budget: ByteBudget;
  let overdue: string[];
  beforeEach(() => {
    time = createManualTime();
    budget = createByteBudget({ perOwner: 10, total: 25, heldMs: 1_000, time });
    overdue = [];
  });

  interface Request {
    release: (() => void) | undefined;
  }
  const want = (owner: string | undefined, bytes: number, signal = never): Request => {
    const request: Request = { release: undefined };
    const onOverdue = () => void overdue.push(`${owner}: ${bytes}`);
    budget.acquire({ owner, bytes, signal, onOverdue }).then(
      (release) => {
        request.release = release;
      },
      () => undefined,
    );
    return request;
  };
  const isHeld = ({ release }: Request): boolean => release !== undefined;
  const settled = () => new Promise(setImmediate);

  it("makes an owner wait for what exceeds its own limit, and other owners for what exceeds the total", async () => {
    const held = [want("a", 10), want("b", 10), want(undefined, 5)];
    const [ofA, ofC] = [want("a", 1), want("c", 1)];
    await settled();
    expect(held.map(isHeld)).to.deep.equal([true, true, true]);
    expect([ofA, ofC].map(isHeld)).to.deep.equal([false, false]);
    held[2]?.release?.();
    await until(() => isHeld(ofC));
    expect(isHeld(ofA)).to.equal(false);
    held[0]?.release?.();
    await until(() => isHeld(ofA));
  });

  it("grants what exceeds a limit alone, when nothing else is held", async () => {
    const large = want("a", 100);
    const next = want("a", 1);
    await settled();
    expect([large, next].map(isHeld)).to.deep.equal([true, false]);
    large.release?.();
    await until(() => isHeld(next));
  });

  it("grants requests in order: small ones do not pass a large one", async () => {
    const first = want("a", 8);
    const [large, small] = [want("a", 9), want("a", 1)];
    await settled();
    expect([first, large, small].map(isHeld)).to.deep.equal([true, false, false]);
    first.release?.();
    await until(() => isHeld(large) && isHeld(small));
  });

  it("ends a wait with the signal's reason, and grants those behind it", async () => {
    want("a", 8);
    const leaving = new AbortController();
    const reason = new Error("the client left");
    const waiting = budget.acquire({
      ...{ owner: "a", bytes: 9, signal: leaving.signal },
      onOverdue: () => undefined,
    });
    const small = want("a", 1);
    await settled();
    leaving.abort(reason);
    expect(await rejection(waiting)).to.equal(reason);
    await until(() => isHeld(small));
    expect(
      await rejection(
        budget.acquire({
          owner: "b",
          bytes: 1,
          signal: AbortSignal.abort(reason),
          onOverdue: () => undefined,
        }),
      ),
    ).to.equal(reason);
    expect(budget.stats()).to.deep.equal({ bytes: 9, owners: 1 });
  });

  it("reports bytes as overdue only while others wait for them, each once, the longest held first", async () => {
    const [first, second] = [want("a", 6), want("a", 4)];
    await settled();
    time.advance(10_000);
    expect(overdue).to.deep.equal([]);
    const waiting = want("a", 1);
    await settled();
    time.advance(0);
    expect(overdue[0]).to.equal("a: 6");
    time.advance(10_000);
    expect(overdue).to.deep.equal(["a: 6", "a: 4"]);
    first.release?.();
    second.release?.();
    await until(() => isHeld(waiting));
    time.advance(10_000);
    expect(overdue).to.have.length(2);
  });

  it("does not report a request as overdue while it waits for the total", async () => {
    const others = [want("b", 10), want("c", 10)];
    await settled();
    time.advance(500);
    const ofA = [want("a", 9), want("a", 9)];
    await settled();
    time.advance(900);
    expect(overdue).to.deep.equal(["b: 10", "c: 10"]);
    time.advance(5_000);
    expect(overdue).to.have.length(2);
    for (const other of others) other.release?.();
    await until(() => ofA.some(isHeld));
    time.advance(999);
    expect(overdue).to.have.length(2);
    time.advance(1);
    expect(overdue).to.deep.equal(["b: 10", "c: 10", "a: 9"]);
  });

  it("never exceeds its limits, forgets its owners, and grants every request, in any order of requests and returns", async () => {
    const requests = fc.array(
      fc.tuple(fc.constantFrom("a", "b", "c", undefined), fc.integer({ min: 1, max: 10 })),
      {
        maxLength: 60,
      },
    );
    await fc.assert(
      fc.asyncProperty(requests, fc.infiniteStream(fc.nat()), async (wanted, random) => {
        const open: (readonly [string | undefined, number, Request])[] = wanted.map(([owner, bytes]) => [
          owner,
          bytes,
          want(owner, bytes),
        ]);
        while (open.length > 0) {
          await settled();
          const held = open.filter(([, , request]) => isHeld(request));
          const sum = (some: typeof held): number => some.reduce((total, [, bytes]) => total + bytes, 0);
          expect(sum(held)).to.be.within(1, 25);
          for (const name of ["a", "b", "c"]) {
            expect(sum(held.filter(([owner]) => owner === name))).to.be.at.most(10);
          }
          const [chosen] = held.slice((random.next().value ?? 0) % held.length);
          if (!chosen) throw new Error("nothing is held");
          chosen[2].release?.();
          open.splice(open.indexOf(chosen), 1);
        }
        expect(budget.stats()).to.deep.equal({ bytes: 0, owners: 0 });
      }),
    );
  });
});
