import { expect } from "chai";
import { runKillRounds } from "./kill-rounds/rounds.ts";

describe("A service that is killed with SIGKILL under load", () => {
  for (const store of ["sqlite", "eventstoredb"] as const) {
    it(`records each answer exactly once, within the quotas, and its books agree (${store})`, async () => {
      const { answers } = await runKillRounds({ store, rounds: 2, seed: 1 });
      expect(answers).not.to.deep.equal([]);
    });
  }
});
