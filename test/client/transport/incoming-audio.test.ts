import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { type AudioBuffer, createAudioBuffer } from "../../../src/client/transport/incoming-audio.ts";
import { rejection } from "../../support/rejection.ts";

const piece = () => new Uint8Array(1_000);
const iteratorOf = ({ audio }: AudioBuffer) => audio[Symbol.asyncIterator]();

describe("audio on its way to a player", () => {
  it("is fetched as far ahead as there is room for it, and further only when some was read", async () => {
    let pulls = 0;
    const incoming = createAudioBuffer({
      keptBytes: 4_000,
      pull: async () => {
        pulls++;
        incoming.push(piece());
      },
      leave: () => {},
    });
    await turn();
    expect(pulls).to.equal(4);
    await iteratorOf(incoming).next();
    await turn();
    expect(pulls).to.equal(5);
  });

  it("tells how much too much of it there is where it cannot be held back", () => {
    const incoming = createAudioBuffer({ keptBytes: 1_500, leave: () => {} });
    incoming.push(piece());
    expect(incoming.room()).to.equal(500);
    incoming.push(piece());
    expect(incoming.room()).to.equal(-500);
  });

  it("has arrived when all of it is here, though nobody reads it", async () => {
    const incoming = createAudioBuffer({ keptBytes: 4_000, leave: () => {} });
    incoming.push(piece());
    incoming.end();
    await incoming.arrived;
  });

  it("is given up as soon as it cannot become whole, whatever of it is here", async () => {
    const incoming = createAudioBuffer({ keptBytes: 4_000, leave: () => {} });
    incoming.push(piece());
    incoming.fail(new Error("cut"));
    expect(await rejection(incoming.arrived)).to.include({ message: "cut" });
    expect(await rejection(iteratorOf(incoming).next())).to.include({ message: "cut" });
  });

  it("fails as its source does", async () => {
    const incoming = createAudioBuffer({
      keptBytes: 4_000,
      pull: () => Promise.reject(new Error("cut")),
      leave: () => {},
    });
    expect(await rejection(iteratorOf(incoming).next())).to.include({ message: "cut" });
  });

  it("ends its coming when the reader leaves, and takes no more", async () => {
    const left = Promise.withResolvers<void>();
    const incoming = createAudioBuffer({ keptBytes: 4_000, leave: left.resolve });
    incoming.push(piece());
    for await (const _ of incoming.audio) break;
    await left.promise;
    await incoming.arrived;
    expect(() => incoming.push(piece())).not.to.throw();
    expect(incoming.room()).to.equal(0);
    expect(() => incoming.end()).not.to.throw();
    expect(() => incoming.fail(new Error("too late"))).not.to.throw();
  });
});
