import { expect } from "chai";
import { FoundInStore } from "../../src/audio/pipeline/store-recheck.ts";
import { EngineFailed, Invalid, Unavailable } from "../../src/domain/errors.ts";
import { startOperation, trackStream } from "../../src/telemetry/operation.ts";

async function* numbers(upTo: number, failure?: Error): AsyncGenerator<number> {
  for (let number = 1; number <= upTo; number++) yield number;
  if (failure) throw failure;
}

describe("an operation", () => {
  let outcomes: string[];
  let controller: AbortController;
  const begin = () =>
    startOperation({
      name: "count",
      attributes: {},
      signal: controller.signal,
      onFirstByte: () => outcomes.push("begun"),
      onEnd: (outcome) => outcomes.push(outcome),
    });
  const read = async (source: AsyncIterable<number>, most = 10): Promise<number[]> => {
    const received: number[] = [];
    for await (const number of source) {
      received.push(number);
      if (received.length === most) break;
    }
    return received;
  };

  beforeEach(() => {
    outcomes = [];
    controller = new AbortController();
  });

  it("ends as made when everything was read, and reports the first byte", async () => {
    expect(await read(trackStream(numbers(3), begin()))).to.deep.equal([1, 2, 3]);
    expect(outcomes).to.deep.equal(["begun", "made"]);
  });

  for (const [failure, outcome] of [
    [new EngineFailed("no"), "failed"],
    [new Unavailable("later", 1), "unavailable"],
    [new Invalid([]), "refused"],
    [
      new FoundInStore({ bytes: Buffer.from("sound"), length: { samples: 5, sampleRate: 8000 } }),
      "abandoned",
    ],
  ] as const) {
    it(`is ${outcome} after ${failure.name}, which it passes on`, async () => {
      const error = await read(trackStream(numbers(1, failure), begin())).catch((thrown: unknown) => thrown);
      expect(error).to.equal(failure);
      expect(outcomes).to.deep.equal(["begun", outcome]);
    });
  }

  it("is abandoned with its source when the reader leaves", async () => {
    let left = false;
    async function* endless(): AsyncGenerator<number> {
      try {
        for (;;) yield 1;
      } finally {
        left = true;
      }
    }
    expect(await read(trackStream(endless(), begin()), 2)).to.deep.equal([1, 1]);
    expect(outcomes).to.deep.equal(["begun", "abandoned"]);
    expect(left).to.equal(true);
  });

  it("is abandoned when its signal is aborted before the first read", () => {
    void trackStream(numbers(3), begin());
    controller.abort();
    expect(outcomes).to.deep.equal(["abandoned"]);
  });

  it("ends once", async () => {
    const work = begin();
    await read(trackStream(numbers(1), work));
    controller.abort();
    work.fail(new Error("late"));
    expect(outcomes).to.deep.equal(["begun", "made"]);
  });
});
