import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { propagation, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { expect } from "chai";
import { createSampler } from "../../src/telemetry/sampler.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const sampled = `00-${traceId}-b7ad6b7169203331-01`;
const unsampled = `00-${traceId}-b7ad6b7169203331-00`;

describe("the sampler", () => {
  before(() => propagation.setGlobalPropagator(new W3CTraceContextPropagator()));
  after(() => propagation.disable());

  const request = (traceparent?: string): IncomingMessage => {
    const message = new IncomingMessage(new Socket());
    if (traceparent !== undefined) message.headers.traceparent = traceparent;
    return message;
  };
  const sampler = (ratio: number, parentBased = true, trusted = true) =>
    createSampler(
      { ratio, parentBased },
      () => trusted,
      () => 0.5,
    );
  const parentOf = (made: ReturnType<typeof sampler>, traceparent?: string): string | undefined => {
    const context = made.parentContext(request(traceparent));
    return context && (trace.getSpanContext(context)?.traceId ?? "a new trace");
  };

  it("samples the configured ratio of new traces", () => {
    expect(parentOf(sampler(0.6))).to.equal("a new trace");
    expect(parentOf(sampler(0.4))).to.equal(undefined);
    expect(parentOf(sampler(0))).to.equal(undefined);
    expect(parentOf(sampler(1))).to.equal("a new trace");
  });

  it("follows the sampling of a trusted caller with a parent-based sampler", () => {
    expect(parentOf(sampler(0), sampled)).to.equal(traceId);
    expect(parentOf(sampler(1), unsampled)).to.equal(undefined);
  });

  it("continues a trusted caller's trace but samples by itself with a sampler that is not parent-based", () => {
    expect(parentOf(sampler(1, false), unsampled)).to.equal(traceId);
    expect(parentOf(sampler(0, false), sampled)).to.equal(undefined);
  });

  it("ignores the trace context of untrusted callers", () => {
    expect(parentOf(sampler(0, true, false), sampled)).to.equal(undefined);
    expect(parentOf(sampler(1, true, false), unsampled)).to.equal("a new trace");
  });

  it("samples by itself if the caller's trace context is invalid", () => {
    expect(parentOf(sampler(1), "nonsense")).to.equal("a new trace");
  });

  it("samples nothing when traces are disabled", () => {
    expect(createSampler(undefined, () => true).parentContext(request(sampled))).to.equal(undefined);
  });
});
