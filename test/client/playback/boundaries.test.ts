import { expect } from "chai";
import { marksUrl } from "../../../src/client/api/service-api.ts";
import { type Boundary, followBoundaries, parseMarks } from "../../../src/client/playback/boundaries.ts";

const word = (charIndex: number, elapsedTime: number): Boundary => ({
  name: "word",
  charIndex,
  charLength: 3,
  elapsedTime,
});

describe("The boundaries of a sound", () => {
  it("are offsets in UTF-16 code units, from marks in code points", () => {
    const marks =
      '{"time":0,"type":"sentence","start":0,"end":5}\n{"time":250,"type":"word","start":2,"end":5}\n';
    expect(parseMarks(marks, { text: "\u{1F642} one" })).to.deep.equal([
      { name: "sentence", charIndex: 0, charLength: 6, elapsedTime: 0 },
      { name: "word", charIndex: 3, charLength: 3, elapsedTime: 0.25 },
    ]);
    expect(parseMarks('{"time":0,"type":"mark","start":0,"end":5}\n', { text: "<mark/>" })).to.deep.equal([]);
    expect(parseMarks("", { text: "one" })).to.deep.equal([]);
  });

  it("are where the header says, among other links", () => {
    const urlOf = (link?: string) =>
      marksUrl(
        new Response(null, { headers: link === undefined ? {} : { Link: link } }),
        "https://a.example/tts/",
      );
    expect(
      urlOf('</v2>; rel="successor-version", </x/h.marks.json>; rel="describedby"; type="a/b"'),
    ).to.equal("https://a.example/x/h.marks.json");
    expect([urlOf(), urlOf('</v2>; rel="successor-version"')]).to.deep.equal([undefined, undefined]);
  });

  it("are reported when playback reaches them, at any speed and after a pause", () => {
    const audio = { currentTime: 0, playbackRate: 2 };
    const timers: { readonly ms: number; readonly expire: () => void }[] = [];
    const reported: number[] = [];
    const stop = new AbortController();
    const startTimer = (ms: number, expire: () => void) => {
      const timer = { ms, expire };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    };
    const expire = () => timers.shift()?.expire();
    followBoundaries(
      audio,
      [word(0, 0), word(4, 0.2), word(8, 0.25), word(12, 9)],
      ({ charIndex }) => void reported.push(charIndex),
      { startTimer, signal: stop.signal },
    );
    expect([reported, timers[0]?.ms]).to.deep.equal([[0], 100]);
    expire(); // paused: the position has not changed
    expect([reported, timers[0]?.ms]).to.deep.equal([[0], 100]);
    audio.currentTime = 0.3;
    expire();
    expect([reported, timers[0]?.ms]).to.deep.equal([[0, 4, 8], 250]);
    stop.abort();
    expect(timers).to.deep.equal([]);
  });
});
