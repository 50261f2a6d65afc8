import { expect } from "chai";
import { isSample } from "../support/sample.ts";
import { runKillRounds } from "./kill-rounds/rounds.ts";

const seed = Number(process.env.TEST_SEED ?? 1);

describe("A service that is killed with SIGKILL under load", () => {
  for (const store of ["sqlite", "eventstoredb"] as const) {
    it(`and has three workers records each answer exactly once, within the quotas, and its books agree (${store}, seed ${seed})`, async () => {
      const { responses } = await runKillRounds({ store, rounds: isSample ? 1 : 3, seed, workers: 3 });
      expect(responses).not.to.deep.equal([]);
    });
  }
  for (const store of ["sqlite", "eventstoredb"] as const) {
    it(`records each answer exactly once, within the quotas, and its books agree (${store}, seed ${seed})`, async () => {
      const { responses } = await runKillRounds({ store, rounds: isSample ? 1 : 2, seed });
      expect(responses).not.to.deep.equal([]);
    });
  }
});
