import { expect } from "chai";
import { createModelPool } from "../../../src/subprocess/host/sherpa/model-pool.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";

describe("the processes of models", () => {
  it("do not wait for one that could not be started", async () => {
    const pool = createModelPool();
    // An argument that is longer than Linux allows: `spawn` throws.
    const config = { tooLong: "x".repeat(200_000) };
    const model = { name: "long", config, threads: 1, memoryBytes: 1024 ** 3, idleMs: 1_000 };
    for (let attempt = 1; attempt <= 2; attempt++) {
      const limits = { deadlineMs: 1_000, maxOutputBytes: 1_000, lowPriority: false };
      const work = pool.acquire({ type: "sherpa", model, speaker: 0, speed: 1, ...limits });
      work.input.end("[]");
      expect(await rejection(collect(work.output)), `attempt ${attempt}`).to.have.property("code", "E2BIG");
    }
  });
});
