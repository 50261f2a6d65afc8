import { expect } from "chai";
import type { Exchange } from "../../../src/engines/provider-http/exchange.ts";
import { type Stage, UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { withRetry } from "../../../src/engines/resilience/with-retry.ts";
import { collect } from "../../support/collect.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { anyRequest, brokenBody, manualExchange, type PendingRequest } from "./manual-upstream.ts";

const failed = (stage: Stage) => new UpstreamFailed("It failed.", { stage });

describe("withRetry", () => {
  let time: ManualTime;
  let exchange: Exchange;
  let requests: PendingRequest[];
  let random: number;
  let retries: number;
  let caller: AbortController;

  beforeEach(() => {
    time = createManualTime();
    random = 0.5;
    retries = 0;
    const upstream = manualExchange();
    requests = upstream.requests;
    const onRetry = () => void retries++;
    exchange = withRetry(upstream.exchange, { time, random: () => random, onRetry });
    caller = new AbortController();
  });

  const ask = () => exchange(anyRequest, caller.signal);
  const pausing = () => until(() => time.waiting() === 1);
  const again = async (ms: number) => {
    await pausing();
    const before = requests.length;
    time.advance(ms - 1);
    expect(requests.length).to.equal(before);
    time.advance(1);
    await until(() => requests.length === before + 1);
  };

  for (const status of [429, 502, 503, 504]) {
    it(`retries after a ${status}, and discards the refused response`, async () => {
      const response = ask();
      requests[0]?.response({ status });
      await again(100);
      expect(requests[0]?.signal.aborted).to.equal(true);
      requests[1]?.response();
      expect((await response).status).to.equal(200);
      expect(requests[1]?.signal.aborted).to.equal(false);
      expect(retries).to.equal(1);
    });
  }

  for (const status of [200, 204, 400, 401, 403, 404, 408, 409, 413, 415, 500, 501]) {
    it(`does not retry after a ${status}`, async () => {
      const response = ask();
      requests[0]?.response({ status });
      expect((await response).status).to.equal(status);
      expect(retries).to.equal(0);
    });
  }

  it("retries when the connection failed", async () => {
    const response = ask();
    requests[0]?.fail(failed("connect"));
    await again(100);
    requests[1]?.response();
    expect((await response).status).to.equal(200);
  });

  it("never retries a request that was sent without a response, nor other errors", async () => {
    for (const failure of [failed("waiting"), failed("answer"), new Error("a mistake")]) {
      const response = rejection(ask());
      requests.at(-1)?.fail(failure);
      expect(await response).to.equal(failure);
    }
    expect(retries).to.equal(0);
  });

  it("never retries when the body is cut, not even before its first byte", async () => {
    const response = ask();
    const failure = failed("answer");
    requests[0]?.response({ body: brokenBody(failure) });
    expect(await rejection(collect((await response).body))).to.equal(failure);
    expect(requests.length).to.equal(1);
  });

  it("retries at most twice, and returns the last response", async () => {
    const response = ask();
    requests[0]?.response({ status: 503 });
    await again(100);
    requests[1]?.fail(failed("connect"));
    await again(200);
    requests[2]?.response({ status: 502 });
    expect((await response).status).to.equal(502);
    expect(requests[2]?.signal.aborted).to.equal(false);
  });

  it("pauses for a random part of a doubling interval", async () => {
    random = 0;
    const response = ask();
    requests[0]?.response({ status: 503 });
    await pausing();
    time.advance(0);
    await until(() => requests.length === 2);
    random = 0.99;
    requests[1]?.response({ status: 503 });
    await again(396);
    requests[2]?.response();
    await response;
  });

  it("honours Retry-After, plus jitter", async () => {
    const response = ask();
    requests[0]?.response({ status: 429, headers: { "retry-after": "3" } });
    await again(3_100);
    requests[1]?.response();
    expect((await response).status).to.equal(200);
  });

  it("does not retry later than five seconds after the first request", async () => {
    const tooLong = ask();
    requests[0]?.response({ status: 429, headers: { "retry-after": "5" } });
    expect((await tooLong).status).to.equal(429);
    const slow = rejection(ask());
    time.advance(4_950);
    const failure = failed("connect");
    requests[1]?.fail(failure);
    expect(await slow).to.equal(failure);
  });

  it("rejects at once when it is aborted during a pause", async () => {
    const response = rejection(ask());
    requests[0]?.response({ status: 503 });
    await pausing();
    const reason = new Error("the caller left");
    caller.abort(reason);
    expect(await response).to.equal(reason);
    expect(time.waiting()).to.equal(0);
    expect(requests.length).to.equal(1);
  });

  it("aborts the pending request when it is aborted", async () => {
    const response = rejection(ask());
    const reason = new Error("the caller left");
    caller.abort(reason);
    expect(await response).to.equal(reason);
    expect(requests[0]?.signal.aborted).to.equal(true);
  });
});
