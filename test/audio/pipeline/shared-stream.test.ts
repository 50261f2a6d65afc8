import { expect } from "chai";
import {
  SharedSource,
  type SharedStream,
  type SharedStreamOptions,
} from "../../../src/audio/pipeline/shared-stream.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { objectOf } from "./sounds.ts";

const never = new AbortController().signal;

/** A source whose chunks the test releases; it counts how far it was read. */
const byHand = () => {
  const hand = {
    /** How often the next chunk was requested. */
    reads: 0,
    begun: 0,
    signals: [] as AbortSignal[],
    waiting: Promise.withResolvers<void>(),
    give: (_chunk: string): void => undefined,
    end: (): void => undefined,
    fail: (_error: unknown): void => undefined,
    source: (signal: AbortSignal): AsyncIterable<Buffer> => {
      hand.begun++;
      hand.signals.push(signal);
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
  };
  const next = (): Promise<IteratorResult<Buffer>> => {
    hand.reads++;
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Buffer>>();
    hand.give = (chunk) => resolve({ done: false, value: Buffer.from(chunk) });
    hand.end = () => resolve({ done: true, value: undefined });
    hand.fail = reject;
    hand.waiting.resolve();
    hand.waiting = Promise.withResolvers<void>();
    return promise;
  };
  return hand;
};

/** Runs all pending microtasks and immediates. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

describe("A shared stream", () => {
  let hand: ReturnType<typeof byHand>;
  let overs: unknown[];
  const begin = (more: Partial<SharedStreamOptions> = {}): SharedStream =>
    new SharedSource({
      source: hand.source,
      finish: (bytes) => objectOf(bytes),
      mayRestart: () => false,
      readAheadBytes: 0,
      onOver: (failure) => overs.push(failure),
      ...more,
    });
  const given = async (...chunks: string[]): Promise<void> => {
    for (const chunk of chunks) {
      await settle();
      hand.give(chunk);
    }
    await settle();
  };
  const text = async (audio: AsyncIterable<Buffer>): Promise<string> =>
    Buffer.concat(await collect(audio)).toString();

  beforeEach(() => {
    hand = byHand();
    overs = [];
  });

  it("gives each listener the whole content, whenever it joined, and runs its source once", async () => {
    const shared = begin();
    const first = shared.read(never).then(text);
    await given("one ", "two ");
    const second = shared.read(never).then(text);
    const whole = shared.readAll(never);
    await given("three");
    hand.end();
    expect(await first).to.equal("one two three");
    expect(await second).to.equal("one two three");
    expect(String((await whole).bytes)).to.equal("one two three");
    expect(hand.begun).to.equal(1);
    expect(overs).to.deep.equal([undefined]);
  });

  it("passes on the first bytes before the next ones exist", async () => {
    const listening = begin().read(never);
    await given("one");
    const audio = (await listening)[Symbol.asyncIterator]();
    expect(String((await audio.next()).value)).to.equal("one");
  });

  it("reads its source as far as the furthest listener, plus a small read-ahead", async () => {
    const listening = begin({ readAheadBytes: 4 }).read(never);
    await given("one");
    const audio = (await listening)[Symbol.asyncIterator]();
    await settle();
    expect(hand.reads, "before the first listener reads").to.equal(1);
    await audio.next();
    await given("two", "three");
    expect(hand.reads, "two and three are more than four bytes ahead").to.equal(3);
    await audio.next();
    await audio.next();
    await settle();
    expect(hand.reads).to.equal(4);
  });

  it("is not blocked by a listener that stops reading", async () => {
    const shared = begin();
    const idle = shared.read(never);
    const eager = shared.read(never).then(text);
    await given("one ", "two");
    hand.end();
    expect(await eager).to.equal("one two");
    expect(await text(await idle)).to.equal("one two");
  });

  it("stops its source when the last listener leaves before the end", async () => {
    const shared = begin();
    const leaving = new AbortController();
    const first = shared.read(leaving.signal);
    const second = await Promise.all([shared.read(never), given("one ")]).then(([audio]) => audio);
    const received = collect(await first);
    leaving.abort(new Error("left"));
    expect(String(await rejection(received))).to.contain("left");
    expect(hand.signals[0]?.aborted).to.equal(false);
    for await (const _ of second) break;
    expect(hand.signals[0]?.aborted).to.equal(true);
    expect(overs).to.deep.equal([undefined]);
  });

  it("ends its source when the last listener leaves while the source waits to be read", async () => {
    let hasEnded = false;
    const source = async function* () {
      try {
        yield Buffer.from("one ");
        yield Buffer.from("two");
      } finally {
        hasEnded = true;
      }
    };
    const leaving = new AbortController();
    await begin({ source }).read(leaving.signal);
    leaving.abort();
    await settle();
    expect(hasEnded).to.equal(true);
  });

  it("rejects all waiting listeners when it fails before its first byte", async () => {
    const shared = begin();
    const waiting = [shared.read(never), shared.readAll(never)].map(rejection);
    await settle();
    const failure = new Error("broken");
    hand.fail(failure);
    expect(await Promise.all(waiting)).to.deep.equal([failure, failure]);
    expect(overs).to.deep.equal([failure]);
  });

  it("throws after the received chunks when it fails midway, and never ends normally", async () => {
    const listening = begin().read(never);
    await given("one ");
    const received: string[] = [];
    const reading = (async () => {
      for await (const chunk of await listening) received.push(String(chunk));
    })();
    await given("two");
    const failure = new Error("broken");
    hand.fail(failure);
    expect(await rejection(reading)).to.equal(failure);
    expect(received).to.deep.equal(["one ", "two"]);
  });

  it("ends only after its content was checked for completeness", async () => {
    const cut = new Error("cut");
    const shared = begin({
      finish: () => {
        throw cut;
      },
    });
    const listening = shared.read(never);
    await given("one");
    const reading = listening.then(text);
    await settle();
    hand.end();
    expect(await rejection(reading)).to.equal(cut);
    expect(overs).to.deep.equal([cut]);
  });

  it("restarts after an interruption before the first byte was delivered", async () => {
    const shared = begin({ mayRestart: () => true });
    const whole = shared.readAll(never);
    await given("wrong ");
    hand.fail(new Error("interrupted"));
    await given("right");
    hand.end();
    expect(String((await whole).bytes)).to.equal("right");
    expect(hand.begun).to.equal(2);
    expect(hand.signals[0]?.aborted).to.equal(true);
  });

  it("does not restart after the first byte was delivered, nor a second time", async () => {
    const received = begin({ mayRestart: () => true });
    const listening = received.read(never);
    await given("one ");
    const reading = listening.then(text);
    await settle();
    const failure = new Error("interrupted");
    hand.fail(failure);
    expect(await rejection(reading)).to.equal(failure);

    hand = byHand();
    const whole = begin({ source: hand.source, mayRestart: () => true }).readAll(never);
    await settle();
    hand.fail(new Error("interrupted"));
    await settle();
    hand.fail(failure);
    expect(await rejection(whole)).to.equal(failure);
    expect(hand.begun).to.equal(2);
  });

  it("keeps one copy of the content for 200 listeners, and one more than its source when it is finished", async () => {
    const shared = begin();
    const all = Array.from({ length: 200 }, () => shared.read(never));
    await given("one ");
    const chunks = Promise.all(all.map(async (listening) => await collect(await listening)));
    await given("two");
    hand.end();
    const received = await chunks;
    expect(new Set(received.map((one) => Buffer.concat(one).toString()))).to.deep.equal(new Set(["one two"]));
    for (const [first] of received) expect(first).to.equal(received[0]?.[0]);
  });

  it("rejects a listener whose signal is already aborted", async () => {
    const shared = begin();
    const gone = AbortSignal.abort(new Error("left"));
    expect(String(await rejection(shared.read(gone)))).to.contain("left");
    expect(String(await rejection(shared.readAll(gone)))).to.contain("left");
    expect(hand.reads).to.equal(0);
  });
});
