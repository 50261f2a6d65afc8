import { expect } from "chai";
import fc from "fast-check";
import { JournalTakenOver } from "../../../../src/domain/ledger/journal/journal.ts";
import {
  carryOverUsage,
  parseQuotaStream,
  type Quota,
  type QuotaEvent,
  QuotaExceeded,
  quotaDecider,
  quotaStream,
  type ReserveCharacters,
  reserveCharacters,
  returnReservation,
  settleReservations,
} from "../../../../src/domain/ledger/quota/quota.ts";

const at = "2026-11-05T10:00:00.000Z";
const nothing = Number.NEGATIVE_INFINITY;

const quotaAfter = (...events: QuotaEvent[]): Quota =>
  events.reduce(quotaDecider.evolve, quotaDecider.initial());
const reserved = (journal: string, total: number): QuotaEvent => ({
  type: "CharactersReserved",
  data: { journal, total, at },
});
const returned = (journal: string, total: number): QuotaEvent => ({
  type: "ReservationReturned",
  data: { journal, total, at },
});
const settled = (journal: string, total: number): QuotaEvent => ({
  type: "ReservationSettled",
  data: { journal, total, at },
});
const recalled = (journal: string): QuotaEvent => ({ type: "ReservationsRecalled", data: { journal, at } });
const carried = (journal: string, total: number): QuotaEvent => ({
  type: "UsageCarriedOver",
  data: { totals: [{ journal, total }], at },
});

const command = (overrides: Partial<ReserveCharacters> = {}): ReserveCharacters => ({
  journal: "a",
  expected: [undefined],
  spent: 0,
  reservedTotal: nothing,
  wanted: [10],
  quota: 1_000,
  at,
  ...overrides,
});

describe("the monthly quota of a key", () => {
  it("is reserved by a sixth of what is available, and at least by 5 %", () => {
    expect(reserveCharacters(quotaAfter(), command())).to.deep.equal([reserved("a", 167)]);
    expect(reserveCharacters(quotaAfter(returned("b", 880)), command())).to.deep.equal([reserved("a", 50)]);
    expect(reserveCharacters(quotaAfter(returned("b", 960)), command())).to.deep.equal([reserved("a", 40)]);
  });

  it("is reserved in smaller parts while other journals need it", () => {
    expect(reserveCharacters(quotaAfter(reserved("b", 910)), command())).to.deep.equal([reserved("a", 30)]);
    expect(reserveCharacters(quotaAfter(reserved("b", 985)), command())).to.deep.equal([reserved("a", 10)]);
    const recent = quotaAfter(returned("b", 910), recalled("a"));
    expect(reserveCharacters(recent, command())).to.deep.equal([reserved("a", 30)]);
    const later = command({ at: "2026-11-05T10:02:00.000Z" });
    expect(reserveCharacters(recent, later)[0]?.data).to.include({ total: 50 });
  });

  it("is reserved for as many waiting requests as fit, in their order", () => {
    const state = quotaAfter(returned("b", 900));
    const total = (wanted: number[]) => reserveCharacters(state, command({ wanted }))[0]?.data;
    expect(total([60, 30, 20, 1])).to.include({ total: 90 });
    expect(total([60, 40])).to.include({ total: 100 });
  });

  it("includes what the journal may still spend while the command runs", () => {
    const own = command({ expected: [300], spent: 100, reservedTotal: 300, wanted: [10], quota: 400 });
    expect(reserveCharacters(quotaAfter(reserved("a", 300)), own)).to.deep.equal([reserved("a", 300)]);
  });

  it("is recalled once from each reservation of another journal before a request is refused", () => {
    const state = quotaAfter(reserved("b", 600), reserved("c", 395));
    expect(reserveCharacters(state, command())).to.deep.equal([recalled("a")]);
    const waiting = quotaDecider.evolve(state, recalled("a"));
    expect(reserveCharacters(waiting, command())).to.deep.equal([]);
    const again = [returned("b", 590), reserved("b", 600)].reduce(quotaDecider.evolve, waiting);
    expect(reserveCharacters(again, command())).to.deep.equal([recalled("a")]);
  });

  it("is not recalled from the journal that recalls", () => {
    const state = quotaAfter(reserved("a", 500), reserved("b", 500), recalled("a"));
    expect(reserveCharacters(state, command({ journal: "b", expected: [500], spent: 500 }))).to.deep.equal([
      recalled("b"),
    ]);
  });

  it("is exceeded if too little is left and no other journal holds any", () => {
    const state = quotaAfter(returned("b", 600), settled("c", 395), reserved("a", 3));
    expect(() => reserveCharacters(state, command({ expected: [3], spent: 1 })))
      .to.throw(QuotaExceeded)
      .that.includes({ used: 996, quota: 1_000 });
  });

  it("refuses a journal that is settled, or whose total is not the expected one", () => {
    for (const [state, expected] of [
      [quotaAfter(settled("a", 5)), [5]],
      [quotaAfter(reserved("a", 5)), [undefined, 6]],
      [quotaAfter(), [5]],
    ] as const) {
      expect(() => reserveCharacters(state, command({ expected }))).to.throw(JournalTakenOver);
      expect(() => returnReservation(state, command({ expected }))).to.throw(JournalTakenOver);
    }
  });

  it("records a return only if the stream does not state the total yet", () => {
    const own = command({ expected: [50], spent: 40 });
    expect(returnReservation(quotaAfter(reserved("a", 50)), own)).to.deep.equal([returned("a", 40)]);
    expect(returnReservation(quotaAfter(returned("a", 50)), own)).to.deep.equal([returned("a", 40)]);
    expect(returnReservation(quotaAfter(returned("a", 50)), { ...own, spent: 50 })).to.deep.equal([]);
  });

  it("records a return if an earlier append may still arrive", () => {
    const own = command({ expected: [50, 80], spent: 50 });
    expect(returnReservation(quotaAfter(returned("a", 50)), own)).to.deep.equal([returned("a", 50)]);
  });

  it("settles each journal once, permanently", () => {
    const state = quotaAfter(reserved("b", 600), settled("c", 20));
    const totals = [
      { journal: "b", total: 10 },
      { journal: "c", total: 30 },
      { journal: "unknown", total: 7 },
    ];
    expect(settleReservations(state, totals, at)).to.deep.equal([settled("b", 10)]);
    expect(quotaAfter(settled("b", 10), reserved("b", 70), carried("b", 90)).total).to.equal(10);
  });

  it("settles what a journal has voided after its last statement, even without a share, but not the total of a return", () => {
    const state = quotaAfter(returned("b", 30), returned("c", 5), reserved("e", 7));
    const totals = [
      { journal: "b", total: 20 },
      { journal: "c", total: 5 },
      { journal: "d", total: -10 },
      { journal: "e", total: 7 },
    ];
    const expected = [settled("b", 20), settled("d", -10), settled("e", 7)];
    expect(settleReservations(state, totals, at)).to.deep.equal(expected);
    expect(quotaAfter(settled("d", -10)).total).to.equal(-10);
  });

  it("counts earlier usage until the journal states its own total", () => {
    const state = quotaAfter(returned("b", 30), carried("a", 100), carried("b", 20));
    expect(state.total).to.equal(130);
    const event = reserveCharacters(state, command({ spent: 110, wanted: [1], quota: 141 }));
    expect(event[0]?.data).to.include({ total: 111 });
    expect(carryOverUsage(state, [{ journal: "a", total: 100 }], at)).to.deep.equal([]);
    expect(carryOverUsage(state, [{ journal: "b", total: 31 }], at)).to.deep.equal([carried("b", 31)]);
  });

  it("is in a stream that names the key and the month", () => {
    const stream = quotaStream("vlk_a-b", "2026-11");
    expect(parseQuotaStream(stream)).to.deep.equal({ apiKey: "vlk_a-b", month: "2026-11" });
  });

  it("never has more reserved than the quota, whatever the journals decide", () => {
    const step = fc.record({
      journal: fc.constantFrom("a", "b", "c"),
      wanted: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
      returns: fc.boolean(),
      spends: fc.nat(100),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.array(step, { maxLength: 60 }), (quota, steps) => {
        let state = quotaAfter();
        const spent = new Map<string, number>();
        for (const { journal, wanted, returns, spends } of steps) {
          const stated = state.shares.get(journal)?.stated;
          const own = command({ journal, expected: [stated], spent: spent.get(journal) ?? 0, wanted, quota });
          try {
            const events = returns ? returnReservation(state, own) : reserveCharacters(state, own);
            state = events.reduce(quotaDecider.evolve, state);
          } catch (error) {
            expect(error).to.be.instanceOf(QuotaExceeded);
          }
          const share = state.shares.get(journal);
          if (share?.status === "reserved") spent.set(journal, Math.min(share.total, own.spent + spends));
          expect(state.total).to.be.at.most(quota);
          expect(state.total).to.equal([...state.shares.values()].reduce((sum, { total }) => sum + total, 0));
        }
      }),
      { numRuns: 500 },
    );
  });
});
