import { expect } from "chai";
import { createScheduler } from "../../../src/async/scheduler/scheduler.ts";
import { EngineFailed, Unavailable } from "../../../src/domain/errors.ts";
import type { Exchange } from "../../../src/engines/provider-http/exchange.ts";
import { createLimiter, type Limiter, withLimiter } from "../../../src/engines/resilience/with-limiter.ts";
import { collect } from "../../support/collect.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { anyRequest, bodyOf, brokenBody, manualExchange, type PendingRequest } from "./manual-upstream.ts";

describe("withLimiter", () => {
  let time: ManualTime;
  let limiter: Limiter;
  let exchange: Exchange;
  let requests: PendingRequest[];
  let caller: AbortController;

  beforeEach(() => {
    const limits = { concurrency: 1, perMinute: 100 };
    time = createManualTime();
    limiter = createLimiter(createScheduler(), "oai", limits, time);
    const upstream = manualExchange();
    requests = upstream.requests;
    exchange = withLimiter(upstream.exchange, limiter, { time, maxIdle: 2 });
    caller = new AbortController();
  });

  const ask = () => exchange(anyRequest, caller.signal);
  const response = async (body: AsyncIterable<Buffer>) => {
    const response = ask();
    await until(() => requests.length > 0);
    requests.at(-1)?.response({ status: 201, headers: { etag: "x" }, body });
    return await response;
  };
  const mustBeFree = async () => {
    expect(limiter.running()).to.equal(0);
    const next = ask();
    const before = requests.length;
    await until(() => requests.length > before);
    requests.at(-1)?.response();
    await collect((await next).body);
  };

  it("passes the response through", async () => {
    const { status, headers, body } = await response(bodyOf("one", "two"));
    expect({ status, headers }).to.deep.equal({ status: 201, headers: { etag: "x" } });
    expect(Buffer.concat(await collect(body)).toString()).to.equal("onetwo");
  });

  it("holds a slot until the body has been read to the end", async () => {
    const { body } = await response(bodyOf("one", "two"));
    const next = ask();
    await until(() => limiter.queued() === 1);
    const pieces = body[Symbol.asyncIterator]();
    await pieces.next();
    await pieces.next();
    expect(requests.length).to.equal(1);
    expect((await pieces.next()).done).to.equal(true);
    await until(() => requests.length === 2);
    requests[1]?.response();
    await collect((await next).body);
    await mustBeFree();
  });

  it("releases the slot when the reader leaves the body", async () => {
    for await (const _ of (await response(bodyOf("one", "two"))).body) break;
    await mustBeFree();
  });

  it("releases the slot while the reader is idle, and lets it read to the end", async () => {
    const { body } = await response(bodyOf("one", "two", "three"));
    const pieces = body[Symbol.asyncIterator]();
    for (const ms of [4_999, 4_999]) {
      await pieces.next();
      time.advance(ms);
      expect(limiter.running()).to.equal(1);
    }
    time.advance(1);
    await mustBeFree();
    expect(String((await pieces.next()).value)).to.equal("three");
    expect((await pieces.next()).done).to.equal(true);
    await mustBeFree();
  });

  it("aborts the longest idle response when too many are idle", async () => {
    await (await response(bodyOf("one"))).body[Symbol.asyncIterator]().next();
    caller.abort();
    caller = new AbortController();
    time.advance(5_000);
    const resting: AsyncIterator<Buffer>[] = [];
    const rest = async (pieces: AsyncIterator<Buffer>) => {
      await pieces.next();
      time.advance(5_000);
      expect(limiter.running()).to.equal(0);
    };
    for (let count = 0; count < 2; count++) {
      const before = requests.length;
      const response = ask();
      await until(() => requests.length > before);
      requests.at(-1)?.response({ body: bodyOf("one", "two", "three") });
      const pieces = (await response).body[Symbol.asyncIterator]();
      resting.push(pieces);
      await rest(pieces);
    }
    await resting[0]?.next();
    const third = ask();
    await until(() => requests.length === 4);
    requests[3]?.response({ body: bodyOf("one", "two") });
    await rest((await third).body[Symbol.asyncIterator]());
    expect(requests.map(({ signal }) => signal.aborted)).to.deep.equal([true, false, true, false]);
    expect(requests[2]?.signal.reason).to.be.instanceOf(EngineFailed);
    expect([limiter.running(), limiter.queued()]).to.deep.equal([0, 0]);
  });

  it("releases the slot when the body fails midway", async () => {
    const broken = new Error("broken off");
    expect(await rejection(collect((await response(brokenBody(broken, "one"))).body))).to.equal(broken);
    await mustBeFree();
  });

  it("releases the slot when the request fails", async () => {
    const response = rejection(ask());
    await until(() => requests.length === 1);
    const failure = new Error("no answer");
    requests[0]?.fail(failure);
    expect(await response).to.equal(failure);
    await mustBeFree();
  });

  it("releases the slot when the request is aborted before its body is read", async () => {
    await response(bodyOf("one"));
    caller.abort();
    caller = new AbortController();
    await mustBeFree();
  });

  it("does not send a request that is aborted in the queue", async () => {
    const { body } = await response(bodyOf("one"));
    const waiting = rejection(ask());
    await until(() => limiter.queued() === 1);
    const reason = new Error("the caller left");
    caller.abort(reason);
    expect(await waiting).to.equal(reason);
    await collect(body).catch(() => undefined);
    expect(requests.length).to.equal(1);
  });
});

describe("createLimiter", () => {
  const never = new AbortController().signal;
  let time: ManualTime;
  let limiter: Limiter;

  beforeEach(() => {
    time = createManualTime();
    limiter = createLimiter(createScheduler(), "oai", { concurrency: 1, perMinute: 3 }, time);
  });

  it("refuses a request when its queue is full, with the time to wait", async () => {
    await limiter.acquire(never);
    const waiting = Array.from({ length: 25 }, () => rejection(limiter.acquire(never)));
    const refused = await rejection(limiter.acquire(never));
    expect(refused).to.be.instanceOf(Unavailable).and.include({ retryAfterSeconds: 2 });
    expect(limiter.queued()).to.equal(25);
    time.advance(15_000);
    await Promise.all(waiting);
  });

  it("refuses a request after 15 seconds in its queue, and lets continuations wait", async () => {
    const release = await limiter.acquire(never);
    const waiting = rejection(limiter.acquire(never));
    const continuation = limiter.acquire(never, { isContinuation: true });
    time.advance(14_999);
    expect(limiter.queued()).to.equal(2);
    time.advance(1);
    expect(await waiting).to.be.instanceOf(Unavailable);
    release();
    (await continuation)();
  });

  it("does not count requests that are aborted in the queue as starts of the minute", async () => {
    let release = await limiter.acquire(never);
    for (let round = 0; round < 10; round++) {
      const caller = new AbortController();
      const left = [1, 2].map(() => rejection(limiter.acquire(caller.signal)));
      caller.abort();
      await Promise.all(left);
    }
    for (let starts = 1; starts < 3; starts++) {
      release();
      release = await limiter.acquire(never);
    }
    expect(limiter.running()).to.equal(1);
  });
});
