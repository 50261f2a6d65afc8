import type { IncomingHttpHeaders } from "node:http";
import { expect } from "chai";
import type { UpstreamResponse } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { errorFrom, readBody, readJson } from "../../../src/engines/provider-http/responses.ts";
import { rejection } from "../../support/rejection.ts";

const answered = (body: string, status = 200, headers: IncomingHttpHeaders = {}): UpstreamResponse => ({
  status,
  headers,
  body: (async function* () {
    for (let at = 0; at < body.length; at += 1000) yield Buffer.from(body.slice(at, at + 1000));
  })(),
});
const brokenOff = (body: string, status: number): UpstreamResponse => ({
  status,
  headers: {},
  body: (async function* () {
    yield Buffer.from(body);
    throw new UpstreamFailed("broken off", { stage: "answer" });
  })(),
});

describe("A small answer", () => {
  it("is read whole", async () => {
    expect(await readJson(answered('{"voices": ["Zoë"]}'))).to.deep.equal({ voices: ["Zoë"] });
  });

  it("is refused as soon as it is larger than it may be", async () => {
    const failure = await rejection(readBody(answered("x".repeat(10_000)), 5_000));
    expect(failure).to.be.instanceOf(UpstreamFailed).and.include({ stage: "answer", status: undefined });
  });

  it("is refused when it is no JSON, and not repeated", async () => {
    const failure = (await rejection(readJson(answered("<html>secret</html>")))) as UpstreamFailed;
    expect(failure.message).to.equal("The response of the speech provider is invalid: it is not JSON.");
  });
});

describe("A refusal", () => {
  it("tells the status, and the provider's words without what is to be hidden", async () => {
    const body = JSON.stringify({ error: { message: "No voice for 'my dear text' with hunter2." } });
    const failure = await errorFrom(answered(body, 400), { hidden: ["hunter2", "my dear text"] });
    expect(failure).to.include({ stage: "answer", status: 400, retryAfterSeconds: undefined });
    expect(failure.message).to.equal("No voice for '…' with ….");
  });

  it("without words tells its status", async () => {
    expect((await errorFrom(answered("<html>", 502))).message).to.equal(
      "The speech provider responded with an error (HTTP 502 Bad Gateway).",
    );
  });

  it("is told by its status even when its words break off, and by as many words as were heard", async () => {
    const failure = await errorFrom(brokenOff("Overloaded", 503));
    expect([failure.status, failure.message]).to.deep.equal([503, "Overloaded"]);
  });

  it("reads no more than words can be", async () => {
    let read = 0;
    const body = (async function* () {
      for (;;) {
        read++;
        yield Buffer.alloc(4096, "word ");
      }
    })();
    await errorFrom({ status: 500, headers: {}, body });
    expect(read).to.be.below(10);
  });

  for (const [given, seconds] of [
    ["7", 7],
    ["0", 1],
    ["Fri, 31 Dec 1999 23:59:59 GMT", 1],
    ["Sat, 01 Jan 2000 00:00:30 GMT", 30],
    ["99999999", 86_400],
    ["soon", undefined],
  ] as const) {
    it(`passes a wait on that is told as ${given}`, async () => {
      const clock = () => Date.UTC(2000, 0, 1);
      const failure = await errorFrom(answered("", 429, { "retry-after": given }), { clock });
      expect(failure.retryAfterSeconds).to.equal(seconds);
    });
  }
});
