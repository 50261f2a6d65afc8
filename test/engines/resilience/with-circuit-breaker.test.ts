import { expect } from "chai";
import { createCircuitBreaker } from "../../../src/async/circuit-breaker.ts";
import { EngineFailed, Invalid, Unavailable } from "../../../src/domain/errors.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import {
  circuitOpenError,
  withCircuitBreaker,
} from "../../../src/engines/resilience/with-circuit-breaker.ts";
import { collect } from "../../support/collect.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { rejection } from "../../support/rejection.ts";
import { bodyOf, brokenBody, type Scripted, scriptedEngine, sentence } from "./hand-driven.ts";

const never = new AbortController().signal;
const refused = (status: number) => new UpstreamFailed("Refused.", { stage: "answer", status });

/** An engine behind a circuit that one failure opens. */
const open = (...script: readonly Scripted[]) => {
  const { engine, asked } = scriptedEngine(...script);
  const circuit = createCircuitBreaker({
    clock: createManualClock(),
    threshold: 1,
    openError: circuitOpenError,
  });
  const behind = withCircuitBreaker(engine, circuit);
  const hear = async () => Buffer.concat(await collect((await behind.synthesize(sentence, never)).audio));
  return { engine: behind, hear, circuit, asked };
};

describe("An engine behind a circuit", () => {
  it("is what it would be without", async () => {
    const { engine, hear, circuit } = open(() => bodyOf("one", "two"));
    expect(engine).to.include({ code: "oai" });
    expect(engine.version("anybody")).to.equal("scripted");
    expect((await hear()).toString()).to.equal("onetwo");
    expect(circuit.state()).to.equal("closed");
  });

  const itsOwn: readonly (readonly [string, Error])[] = [
    ["not reached", new UpstreamFailed("Not reached.", { stage: "connect" })],
    ["silent", new UpstreamFailed("Silent.", { stage: "waiting" })],
    ["talking nonsense", new UpstreamFailed("Nonsense.", { stage: "answer" })],
    ...[302, 401, 403, 408, 429, 500, 503].map(
      (status) => [`refusing with ${status}`, refused(status)] as const,
    ),
  ];
  for (const [what, failure] of itsOwn) {
    it(`is not asked again when its upstream is ${what}`, async () => {
      const { hear, asked } = open(() => Promise.reject(failure));
      expect(await rejection(hear())).to.equal(failure);
      expect(await rejection(hear())).to.be.instanceOf(EngineFailed);
      expect(asked()).to.equal(1);
    });
  }

  it("is not asked again when its upstream broke off midway", async () => {
    const failure = new UpstreamFailed("Broken off.", { stage: "answer" });
    const { hear, circuit } = open(() => brokenBody(failure, "one"));
    expect(await rejection(hear())).to.equal(failure);
    expect(circuit.state()).to.equal("open");
  });

  const others: readonly (readonly [string, Error])[] = [
    ["the text is invalid", new Invalid([])],
    ["the voice is not there", new EngineFailed("No such voice.")],
    ["there is no turn", new Unavailable("No turn.", 1)],
    ...[400, 404, 413, 415, 422].map((status) => [`it is refused with ${status}`, refused(status)] as const),
  ];
  for (const [what, failure] of others) {
    it(`is asked again when ${what}`, async () => {
      const { hear, circuit } = open(() => Promise.reject(failure));
      expect(await rejection(hear())).to.equal(failure);
      expect(circuit.state()).to.equal("closed");
    });
  }

  it("is asked again when its listener leaves, or aborts", async () => {
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

  it("throws the signal's reason, and not that it is open", async () => {
    const { engine, hear } = open(() => Promise.reject(refused(500)));
    await rejection(hear());
    const reason = new Error("nobody wants it");
    expect(await rejection(engine.synthesize(sentence, AbortSignal.abort(reason)))).to.equal(reason);
  });
});
