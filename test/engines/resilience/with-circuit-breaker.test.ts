import { expect } from "chai";
import { createCircuitBreaker } from "../../../src/async/circuit-breaker.ts";
import { EngineFailed, Invalid, Unavailable } from "../../../src/domain/errors.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import {
  circuitOpenError,
  withCircuitBreaker,
} from "../../../src/engines/resilience/with-circuit-breaker.ts";
import { collect } from "../../support/collect.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { bodyOf, brokenBody, type Scripted, scriptedEngine, sentence } from "./manual-upstream.ts";

const never = new AbortController().signal;
const refused = (status: number) => new UpstreamFailed("Refused.", { stage: "answer", status });

/** An engine with a circuit breaker that opens after one failure. */
const open = (...script: readonly Scripted[]) => {
  const { engine, calls } = scriptedEngine(...script);
  const circuit = createCircuitBreaker({
    time: createManualTime(),
    threshold: 1,
    openError: circuitOpenError,
  });
  const behind = withCircuitBreaker(engine, circuit);
  const speak = async () => Buffer.concat(await collect((await behind.synthesize(sentence, never)).audio));
  return { engine: behind, speak, circuit, calls };
};

describe("withCircuitBreaker", () => {
  it("does not change the engine", async () => {
    const { engine, speak, circuit } = open(() => bodyOf("one", "two"));
    expect(engine).to.include({ code: "oai" });
    expect(engine.version("anybody")).to.equal("scripted");
    expect((await speak()).toString()).to.equal("onetwo");
    expect(circuit.state()).to.equal("closed");
  });

  it("keeps the marks of the speech", async () => {
    const { engine, circuit } = open(() => bodyOf("one"));
    const mark = { time: 0, type: "word", start: 0, end: 2 } as const;
    const marked: Engine = {
      ...engine,
      synthesize: async (...asked) => ({ ...(await engine.synthesize(...asked)), marks: () => [mark] }),
    };
    const speech = await withCircuitBreaker(marked, circuit).synthesize(sentence, never);
    await collect(speech.audio);
    expect(speech.marks?.()).to.deep.equal([mark]);
  });

  const providerFailures: readonly (readonly [string, Error])[] = [
    ["not reached", new UpstreamFailed("Not reached.", { stage: "connect" })],
    ["not responding", new UpstreamFailed("Silent.", { stage: "waiting" })],
    ["returning malformed data", new UpstreamFailed("Nonsense.", { stage: "answer" })],
    ...[302, 401, 403, 408, 429, 500, 503].map(
      (status) => [`refusing with ${status}`, refused(status)] as const,
    ),
  ];
  for (const [what, failure] of providerFailures) {
    it(`opens when the provider is ${what}`, async () => {
      const { speak, calls } = open(() => Promise.reject(failure));
      expect(await rejection(speak())).to.equal(failure);
      expect(await rejection(speak())).to.be.instanceOf(EngineFailed);
      expect(calls()).to.equal(1);
    });
  }

  it("stays open as long as the provider's Retry-After asks", async () => {
    const busy = { stage: "answer", status: 429, retryAfterSeconds: 30 } as const;
    const { speak } = open(() => Promise.reject(new UpstreamFailed("Busy.", busy)));
    await rejection(speak());
    const refusal = await rejection(speak());
    expect(refusal).to.be.instanceOf(EngineFailed).and.include({ retryAfterSeconds: 30 });
    expect((refusal as EngineFailed).message).to.match(/circuit is open.*Busy\.$/);
  });

  it("does not tell other callers the provider's words, which may quote a text", async () => {
    const words = { stage: "answer", status: 500, loggable: "The provider failed." } as const;
    const { speak } = open(() => Promise.reject(new UpstreamFailed("Cannot speak: my secret.", words)));
    await rejection(speak());
    const refusal = (await rejection(speak())) as EngineFailed;
    expect(refusal.message).to.match(/circuit is open.*The provider failed\.$/);
    expect(refusal.loggable).to.equal(refusal.message);
  });

  it("opens when the response is cut midway", async () => {
    const failure = new UpstreamFailed("Broken off.", { stage: "answer" });
    const { speak, circuit } = open(() => brokenBody(failure, "one"));
    expect(await rejection(speak())).to.equal(failure);
    expect(circuit.state()).to.equal("open");
  });

  const otherFailures: readonly (readonly [string, Error])[] = [
    ["the text is invalid", new Invalid([])],
    ["the voice is unknown", new EngineFailed("No such voice.")],
    ["no slot is free", new Unavailable("No turn.", 1)],
    ...[400, 404, 413, 415, 422].map((status) => [`it is refused with ${status}`, refused(status)] as const),
  ];
  for (const [what, failure] of otherFailures) {
    it(`stays closed when ${what}`, async () => {
      const { speak, circuit } = open(() => Promise.reject(failure));
      expect(await rejection(speak())).to.equal(failure);
      expect(circuit.state()).to.equal("closed");
    });
  }

  it("stays closed when the listener leaves or aborts", async () => {
    const { engine, circuit } = open(
      () => bodyOf("one", "two"),
      () => brokenBody(new UpstreamFailed("Broken off.", { stage: "answer" }), "one"),
    );
    for await (const _ of (await engine.synthesize(sentence, never)).audio) break;
    const controller = new AbortController();
    const { audio } = await engine.synthesize(sentence, controller.signal);
    controller.abort();
    await rejection(collect(audio));
    expect(circuit.state()).to.equal("closed");
  });

  it("throws the signal's reason rather than an open-circuit error", async () => {
    const { engine, speak } = open(() => Promise.reject(refused(500)));
    await rejection(speak());
    const reason = new Error("the caller left");
    expect(await rejection(engine.synthesize(sentence, AbortSignal.abort(reason)))).to.equal(reason);
  });
});
