import { expect } from "chai";
import { createModelPool } from "../../../src/subprocess/host/models/model-pool.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";

describe("the processes of models", () => {
  it("do not wait for one that could not be started", async () => {
    const pool = createModelPool();
    // An argument that is longer than Linux allows: `spawn` throws.
    const config = { tooLong: "x".repeat(200_000) };
    const start = { config, threads: 1 };
    const model = { name: "long", program: "sherpa", start, memoryBytes: 1024 ** 3, idleMs: 1_000 } as const;
    for (let attempt = 1; attempt <= 2; attempt++) {
      const toolProcess = pool.acquire({ model });
      toolProcess.input.end("[]");
      expect(await rejection(collect(toolProcess.output)), `attempt ${attempt}`).to.have.property(
        "code",
        "E2BIG",
      );
    }
  });
});
