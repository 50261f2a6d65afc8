import { expect } from "chai";
import description from "../../../../package.json" with { type: "json" };
import { Unavailable } from "../../../../src/domain/errors.ts";
import {
  dictionaryVersion,
  idleMs,
  type JapaneseReadingsOptions,
  japaneseReadings,
} from "../../../../src/engines/local/japanese/japanese-readings.ts";
import { createManualTime } from "../../../support/manual-time.ts";
import { rejection } from "../../../support/rejection.ts";

const never = new AbortController().signal;

const moduleOf = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

/** A worker thread that responds with no readings, unless the text says what else it does. */
const obedient = moduleOf(`
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", ({ id, texts }) => {
    if (texts[0] === "end") process.exit(3);
    if (texts[0] === "fail") throw new Error("broken");
    if (texts[0] !== "hang") parentPort.postMessage({ id, readings: texts.map(() => []) });
  });`);

const open = (options: JapaneseReadingsOptions = {}) => {
  const time = createManualTime();
  const warnings: string[] = [];
  const warn = (line: string) => warnings.push(line);
  const { read, close } = japaneseReadings({ time, entry: obedient, warn, ...options });
  return { time, warnings, read: (text: string, signal = never) => read([text], signal), close };
};

describe("The readings of Japanese texts", () => {
  it("have the version of the dictionary that is installed", () => {
    const version = description.dependencies["lindera-wasm-nodejs-ipadic"];
    expect(dictionaryVersion).to.equal(`lindera-ipadic ${version}`);
  });

  it("come from a worker thread that reads with the dictionary", async () => {
    const readings = japaneseReadings();
    const found = await readings.read(["東京", "abc"], never);
    expect([...found]).to.deep.equal([
      ["東京", [{ start: 0, end: 2, written: "とーきょー" }]],
      ["abc", []],
    ]);
    await readings.close();
  });

  for (const fault of ["end", "fail"]) {
    it(`are unavailable when the worker thread dies (${fault}): it is logged once, and the next text starts another`, async () => {
      const { read, warnings, close } = open();
      expect(await rejection(read(fault))).to.be.instanceOf(Unavailable);
      expect([...(await read("a"))]).to.deep.equal([["a", []]]);
      expect(await rejection(read(fault))).to.be.instanceOf(Unavailable);
      expect(warnings).to.have.length(1);
      await close();
    });
  }

  it("are unavailable while the dictionary is missing", async () => {
    const { read, close } = open({ entry: moduleOf('import "missing-dictionary";') });
    expect(await rejection(read("a"))).to.be.instanceOf(Unavailable);
    await close();
  });

  it("are unavailable when the worker thread hangs until the deadline, and the next text starts another", async () => {
    const { read, time, close } = open();
    const hung = [read("hang"), read("hang")].map((one) => rejection(one));
    time.advance(20_000);
    for (const error of await Promise.all(hung)) expect(error).to.be.instanceOf(Unavailable);
    expect([...(await read("a"))]).to.deep.equal([["a", []]]);
    await close();
  });

  it("are refused while 30,000 characters wait", async () => {
    const { read, close } = open();
    const waiting = [read("hang"), read("a".repeat(29_996))].map((one) => rejection(one));
    const refused = await rejection(read("a"));
    expect(refused)
      .to.be.instanceOf(Unavailable)
      .with.property("message", "Too many Japanese texts are waiting.");
    await close();
    await Promise.all(waiting);
  });

  it("stop for a request that is aborted, and not for others", async () => {
    const { read, close } = open();
    const aborting = new AbortController();
    const aborted = rejection(read("hang", aborting.signal));
    const other = read("a");
    aborting.abort(new Error("left"));
    expect(await aborted).to.have.property("message", "left");
    expect([...(await other)]).to.deep.equal([["a", []]]);
    await close();
  });

  it("end their worker thread when it was idle for five minutes", async () => {
    const { read, time, close, warnings } = open();
    await read("a");
    expect(time.waiting()).to.equal(1);
    time.advance(idleMs);
    expect(time.waiting()).to.equal(0);
    await read("a");
    await close();
    expect(time.waiting()).to.equal(0);
    expect(warnings).to.deep.equal([]);
  });
});
