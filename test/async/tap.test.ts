import { expect } from "chai";
import { tap } from "../../src/async/tap.ts";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/rejection.ts";

const failure = new Error("failure");

async function* source(fails = false): AsyncGenerator<string> {
  yield "a";
  yield "b";
  if (fails) throw failure;
}

describe("Tap", () => {
  let events: string[];
  const observe = (stream: AsyncIterable<string>): AsyncGenerator<string> =>
    tap(stream, {
      onChunk: (chunk) => events.push(chunk),
      onResume: () => events.push("resume"),
      onEnd: () => events.push("end"),
      onError: () => events.push("error"),
      onClose: () => events.push("close"),
    });

  beforeEach(() => {
    events = [];
  });

  it("passes all chunks through and reports them in order", async () => {
    expect(await collect(observe(source()))).to.deep.equal(["a", "b"]);
    expect(events).to.deep.equal(["a", "resume", "b", "resume", "end", "close"]);
  });

  it("reports a failure and rethrows it", async () => {
    expect(await rejection(collect(observe(source(true))))).to.equal(failure);
    expect(events).to.deep.equal(["a", "resume", "b", "resume", "error", "close"]);
  });

  it("replaces the error by what onError throws", async () => {
    const replacement = new Error("replacement");
    const onError = () => {
      throw replacement;
    };
    expect(await rejection(collect(tap(source(true), { onError })))).to.equal(replacement);
  });

  it("closes when its reader leaves early", async () => {
    for await (const _ of observe(source())) break;
    expect(events).to.deep.equal(["a", "close"]);
  });
});
