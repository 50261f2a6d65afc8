import type { IncomingHttpHeaders } from "node:http";
import { expect } from "chai";
import type { UpstreamResponse } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { errorFrom, readBody, readJson } from "../../../src/engines/provider-http/responses.ts";
import { rejection } from "../../support/rejection.ts";

const response = (body: string, status = 200, headers: IncomingHttpHeaders = {}): UpstreamResponse => ({
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

describe("A small response", () => {
  it("is read completely", async () => {
    expect(await readJson(response('{"voices": ["Zoë"]}'))).to.deep.equal({ voices: ["Zoë"] });
  });

  it("is rejected as soon as it exceeds its size bound", async () => {
    const failure = await rejection(readBody(response("x".repeat(10_000)), 5_000));
    expect(failure).to.be.instanceOf(UpstreamFailed).and.include({ stage: "answer", status: undefined });
  });

  it("is rejected without repeating it when it is not JSON", async () => {
    const failure = (await rejection(readJson(response("<html>secret</html>")))) as UpstreamFailed;
    expect(failure.message).to.equal("The response of the speech provider is invalid: it is not JSON.");
  });
});

describe("An error response", () => {
  it("is reported with its status and the provider's redacted message", async () => {
    const body = JSON.stringify({ error: { message: "No voice for 'my dear text' with hunter2." } });
    const failure = await errorFrom(response(body, 400), { hidden: ["hunter2", "my dear text"] });
    expect(failure).to.include({ stage: "answer", status: 400, retryAfterSeconds: undefined });
    expect(failure.message).to.equal("No voice for '…' with ….");
  });

  it("without a message is reported by its status", async () => {
    expect((await errorFrom(response("<html>", 502))).message).to.equal(
      "The speech provider responded with an error (HTTP 502 Bad Gateway).",
    );
  });

  it("that is truncated is reported by its status and the part of the message that arrived", async () => {
    const failure = await errorFrom(brokenOff("Overloaded", 503));
    expect([failure.status, failure.message]).to.deep.equal([503, "Overloaded"]);
  });

  it("is read only up to the bound for messages", async () => {
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
    it(`passes on Retry-After given as ${given}`, async () => {
      const clock = () => Date.UTC(2000, 0, 1);
      const failure = await errorFrom(response("", 429, { "retry-after": given }), { clock });
      expect(failure.retryAfterSeconds).to.equal(seconds);
    });
  }
});
