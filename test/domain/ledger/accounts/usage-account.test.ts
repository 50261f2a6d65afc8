import { expect } from "chai";
import {
  closeUsageAccount,
  evolveUsageAccount,
  initialUsageAccount,
  PostingOutOfOrder,
  type PostingState,
  postingDecider,
  postUsage,
  type UsageAccountEvent,
  UsageAccountIsClosed,
  type UsagePosted,
} from "../../../../src/domain/ledger/accounts/usage-account.ts";
import { postingId } from "../../../../src/domain/ledger/accounts/usage-event-ids.ts";
import { digestOfEvents } from "../../../../src/domain/ledger/journal/canonical.ts";

const at = "2026-11-05T10:00:00.000Z";

const posting = (members: Partial<UsagePosted> = {}): Omit<UsagePosted, "balance"> => ({
  journal: "j1",
  from: 0,
  through: 9,
  ranges: [2, 9],
  digest: "d9",
  requests: 2,
  characters: 30,
  voided: { requests: 0, characters: 0 },
  cells: [{ day: "2026-11-05", engine: "g1", voice: "v", requests: 2, characters: 30 }],
  until: at,
  at,
  ...members,
});

const { initial, evolve } = postingDecider("j1");
const stateAfter = (...events: readonly UsageAccountEvent[]): PostingState =>
  events.reduce(evolve, initial());
const posted = (members: Partial<UsagePosted> = {}): UsageAccountEvent => {
  const data = posting(members);
  return { type: "UsagePosted", data: { ...data, balance: data } };
};

describe("an account", () => {
  it("posts the first range of a journal from revision 0", () => {
    expect(postUsage(initial(), posting())).to.deep.equal([
      { type: "UsagePosted", data: { ...posting(), balance: { requests: 2, characters: 30 } } },
    ]);
  });

  it("carries the balance of all journals forward", () => {
    const state = stateAfter(posted({ journal: "j2", requests: 5, characters: 100 }));
    const [event] = postUsage(state, posting());
    expect(event?.data.balance).to.deep.equal({ requests: 7, characters: 130 });
  });

  it("posts nothing if the range is already posted, even by a longer posting", () => {
    expect(postUsage(stateAfter(posted()), posting())).to.deep.equal([]);
    expect(postUsage(stateAfter(posted({ through: 20 })), posting({ from: 3, through: 12 }))).to.deep.equal(
      [],
    );
  });

  it("refuses a range that does not follow the journal's previous one", () => {
    for (const from of [0, 9, 11]) {
      const next = posting({ from, through: 12 });
      expect(() => postUsage(stateAfter(posted()), next)).to.throw(PostingOutOfOrder);
    }
    expect(postUsage(stateAfter(posted()), posting({ from: 10, through: 12 }))).to.have.length(1);
    expect(() => postUsage(stateAfter(posted({ journal: "j2" })), posting({ from: 10 }))).to.throw(
      PostingOutOfOrder,
    );
  });

  it("refuses postings once it is closed, except those that are already posted", () => {
    const closed = stateAfter(posted(), { type: "AccountClosed", data: closing("d", at) });
    expect(() => postUsage(closed, posting({ from: 10, through: 12 }))).to.throw(UsageAccountIsClosed);
    expect(postUsage(closed, posting())).to.deep.equal([]);
  });

  it("never goes back in time", () => {
    const state = stateAfter(posted({ at: "2026-11-05T10:00:05.000Z" }));
    const [event] = postUsage(state, posting({ from: 10, through: 12 }));
    expect(event?.data.at).to.equal("2026-11-05T10:00:05.000Z");
    const account = evolveUsageAccount(initialUsageAccount(), posted({ at: "2026-12-03T00:00:00.000Z" }));
    expect(closeUsageAccount(account, { digest: "d", at })[0]?.data.at).to.equal("2026-12-03T00:00:00.000Z");
  });

  it("closes with its totals, once", () => {
    const voided = { requests: 1, characters: 4 };
    const events = [posted(), posted({ journal: "j2", requests: -1, characters: -4, voided })];
    const account = events.reduce(evolveUsageAccount, initialUsageAccount());
    const digest = digestOfEvents(events);
    const closed = closeUsageAccount(account, { digest, at });
    expect(closed).to.deep.equal([
      { type: "AccountClosed", data: { requests: 1, characters: 26, voided, digest, at } },
    ]);
    expect(closeUsageAccount(closed.reduce(evolveUsageAccount, account), { digest, at })).to.deep.equal([]);
  });

  it("digests its events in their order", () => {
    const [one, two] = [posted(), posted({ journal: "j2" })];
    expect(digestOfEvents([one, two])).to.match(/^[0-9a-f]{64}$/);
    expect(digestOfEvents([one, two])).to.not.equal(digestOfEvents([two, one]));
  });

  it("gives each posting an id that is the same for every process that posts it", () => {
    const id = postingId("j1", "k", "2026-11", 9);
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(postingId("j1", "k", "2026-11", 9)).to.equal(id);
    expect(postingId("j1", "k", "2026-11", 10)).to.not.equal(id);
  });
});

const closing = (digest: string, time: string) => ({
  requests: 0,
  characters: 0,
  voided: { requests: 0, characters: 0 },
  digest,
  at: time,
});
