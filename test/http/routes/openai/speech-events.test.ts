import { expect } from "chai";
import { EngineFailed } from "../../../../src/domain/errors.ts";
import { speechEvents } from "../../../../src/http/routes/openai/speech-events.ts";
import { collect } from "../../../support/collect.ts";
import { closedGate } from "../../../support/wire/gate.ts";

describe("OpenAI's events of a stream", () => {
  const streamOf = (audio: AsyncIterable<Buffer>) => {
    const stream = { audio, characters: 7, written: 0, delivered: () => void stream.written++ };
    return stream;
  };

  it("carry each chunk and end with the usage", async () => {
    const stream = streamOf(
      (async function* () {
        yield Buffer.from("so");
        yield Buffer.from("und");
      })(),
    );
    expect(await collect(speechEvents(stream))).to.deep.equal([
      'data: {"type":"speech.audio.delta","audio":"c28="}\n\n',
      'data: {"type":"speech.audio.delta","audio":"dW5k"}\n\n',
      'data: {"type":"speech.audio.done","usage":{"input_tokens":7,"output_tokens":0,"total_tokens":7}}\n\n',
    ]);
    expect(stream.written).to.equal(2);
  });

  it("end with an error in OpenAI's form if the audio fails", async () => {
    const stream = streamOf(
      (async function* () {
        yield Buffer.from("so");
        throw new EngineFailed("The engine stopped.");
      })(),
    );
    const events = await collect(speechEvents(stream));
    const error = {
      message: "The engine stopped.",
      type: "server_error",
      param: null,
      code: "engine_failed",
    };
    expect(events.slice(1)).to.deep.equal([`data: ${JSON.stringify({ type: "error", error })}\n\n`]);
  });

  it("are interrupted by heartbeats while no audio arrives, which are not delivered audio", async () => {
    const gate = closedGate();
    const stream = streamOf(
      (async function* () {
        await gate.pass();
        yield Buffer.from("so");
      })(),
    );
    const events = speechEvents(stream, { heartbeatMs: 1 });
    expect((await events.next()).value).to.equal(": heartbeat\n\n");
    expect(stream.written).to.equal(0);
    gate.open();
    const rest = await collect(events);
    expect(rest.filter((event) => !event.startsWith(":"))).to.have.length(2);
  });
});
