import { expect } from "chai";
import { EngineFailed, Unavailable } from "../../../../src/domain/errors.ts";
import { UpstreamFailed } from "../../../../src/engines/provider-http/request-failed.ts";
import { ForbiddenAddress } from "../../../../src/engines/provider-http/ssrf-guard.ts";
import { eventStream } from "../../../../src/http/routes/synthesis/event-stream.ts";
import { collect } from "../../../support/collect.ts";
import { audioOf, eventsIn } from "../../../support/streams.ts";
import { closedGate } from "../../../support/wire/gate.ts";

const streamOf = (audio: AsyncIterable<Buffer>): Parameters<typeof eventStream>[0] => ({
  contentType: "audio/mpeg",
  prosodyApplied: ["pitch", "volume"],
  audio,
});

describe("a stream of events", () => {
  it("consists of metadata, numbered audio events and an end with totals", async () => {
    const audio = async function* () {
      yield Buffer.from("so");
      yield Buffer.from("und");
    };
    const received = (await collect(eventStream(streamOf(audio())))).join("");
    expect(received).to.equal(
      [
        'event: metadata\ndata: {"type":"metadata","contentType":"audio/mpeg","prosodyApplied":["pitch","volume"]}\n\n',
        'event: audio\ndata: {"type":"audio","chunkIndex":0,"data":"c28="}\n\n',
        'event: audio\ndata: {"type":"audio","chunkIndex":1,"data":"dW5k"}\n\n',
        'event: end\ndata: {"type":"end","totalBytes":5,"totalChunks":2}\n\n',
      ].join(""),
    );
    expect(String(audioOf(eventsIn(received)))).to.equal("sound");
  });

  it("sends heartbeats while no audio arrives, before and after the first audio event", async () => {
    const gate = closedGate();
    const audio = async function* () {
      await gate.pass();
      yield Buffer.from("so");
      await gate.pass();
      yield Buffer.from("und");
    };
    const stream = eventStream(streamOf(audio()), { heartbeatMs: 1 });
    const isHeartbeat = (received: string | undefined) => received?.endsWith(": heartbeat\n\n") ?? false;
    const next = async (): Promise<string> => (await stream.next()).value ?? "";
    const received = [await next(), await next()];
    expect(received.every(isHeartbeat)).to.equal(true);
    gate.step();
    while (isHeartbeat(received.at(-1))) received.push(await next());
    received.push(await next(), await next());
    expect(received.slice(-2).every(isHeartbeat)).to.equal(true);
    gate.open();
    received.push(...(await collect(stream)));
    const events = eventsIn(received.join(""));
    expect(events.map(({ type }) => type)).to.deep.equal(["metadata", "audio", "audio", "end"]);
    expect(String(audioOf(events))).to.equal("sound");
  });

  it("ends with an error event if the audio fails", async () => {
    const audio = async function* () {
      yield Buffer.from("so");
      throw new EngineFailed("It broke off.");
    };
    const events = eventsIn((await collect(eventStream(streamOf(audio())))).join(""));
    expect(events.map(({ type }) => type)).to.deep.equal(["metadata", "audio", "error"]);
    expect(events[2]?.data).to.deep.equal({
      type: "error",
      message: "It broke off.",
      retryable: true,
    });
  });

  it("marks errors as retryable unless the provider refused the request or its credentials", async () => {
    const retryableAfter = async (error: Error) => {
      const audio = async function* () {
        yield Buffer.from("so");
        throw error;
      };
      const events = eventsIn((await collect(eventStream(streamOf(audio())))).join(""));
      return events.at(-1)?.data.retryable;
    };
    const refused = (status: number) => new UpstreamFailed("No.", { stage: "answer", status });
    for (const status of [400, 401, 403, 404, 415, 422]) {
      expect(await retryableAfter(refused(status)), `${status}`).to.equal(false);
    }
    for (const status of [408, 429, 500, 502, 503]) {
      expect(await retryableAfter(refused(status)), `${status}`).to.equal(true);
    }
    expect(await retryableAfter(new UpstreamFailed("No.", { stage: "connect" }))).to.equal(true);
    expect(await retryableAfter(new ForbiddenAddress("the loopback"))).to.equal(false);
    expect(await retryableAfter(new Unavailable("Not now.", 1))).to.equal(true);
  });

  it("does not reveal internal errors", async () => {
    const audio = async function* () {
      yield Buffer.from("so");
      throw new Error("/a/path and a secret");
    };
    const events = eventsIn((await collect(eventStream(streamOf(audio())))).join(""));
    expect(events[2]?.type).to.equal("error");
    expect(JSON.stringify(events[2])).to.not.include("secret");
  });

  it("stops reading the audio when its reader stops", async () => {
    let left = false;
    const audio = async function* () {
      try {
        for (;;) yield Buffer.from("on and on");
      } finally {
        left = true;
      }
    };
    const stream = eventStream(streamOf(audio()));
    await stream.next();
    await stream.return(undefined);
    expect(left).to.equal(true);
  });
});
