import fc from "fast-check";
import type { UsageAccountEvent, UsagePosted } from "../../src/domain/ledger/accounts/usage-account.ts";

export const usagePosted = (members: Partial<UsagePosted> = {}): UsageAccountEvent => {
  const { requests = 1, characters = 11 } = members;
  const at = "2026-11-05T10:15:00.000Z";
  const cells = [{ day: "2026-11-05", engine: "g1", voice: "UK English Female", requests, characters }];
  const data = {
    journal: "j1",
    from: 0,
    through: 0,
    ranges: [0, 0],
    digest: "ab".repeat(32),
    requests,
    characters,
    voided: { requests: 0, characters: 0 },
    cells,
    balance: { requests, characters },
    until: at,
    at,
    ...members,
  };
  return { type: "UsagePosted", data };
};

export const accountClosed = (members: { requests: number; characters: number }): UsageAccountEvent => ({
  type: "AccountClosed",
  data: {
    voided: { requests: 0, characters: 0 },
    digest: "ab".repeat(32),
    at: "2026-12-02T00:00:00.000Z",
    ...members,
  },
});

/** Postings of one account, some of them of voided servings only. */
export const anyPostings = (): fc.Arbitrary<UsageAccountEvent[]> =>
  fc
    .array(
      fc.record({
        requests: fc.integer({ min: -9, max: 99 }),
        characters: fc.integer({ min: -99, max: 9_999 }),
      }),
      {
        maxLength: 20,
      },
    )
    .map((all) => all.map(usagePosted));
