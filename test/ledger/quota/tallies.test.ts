import { expect } from "chai";
import type { KeyReservation } from "../../../src/ledger/quota/key-reservation.ts";
import { Tallies } from "../../../src/ledger/quota/tallies.ts";

const [key, other] = [3, 2_000];

describe("the tallies of a journal", () => {
  it("include what a key spent in the month before it had a tally, and in no earlier month", () => {
    const tallies = new Tallies();
    tallies.spend(key, "2026-10", 700);
    tallies.spend(key, "2026-11", 5);
    tallies.spend(key, "2026-11", 6);
    tallies.spend(other, "2026-11", 50);
    expect(tallies.findOrAdd(key, "2026-11").spent).to.equal(11);
    tallies.spend(key, "2026-11", 4);
    expect(tallies.findOrAdd(key, "2026-11").spent).to.equal(15);
  });

  it("are spent from if the key has spent characters in the latest month, with a tally or without", () => {
    const tallies = new Tallies();
    tallies.spend(key, "2026-10", 700);
    tallies.spend(key, "2026-11", 5);
    tallies.findOrAdd(other, "2026-11");
    expect(tallies.hasSpent(key, "2026-11")).to.equal(true);
    expect(tallies.hasSpent(other, "2026-11")).to.equal(true);
    expect(tallies.hasSpent(key, "2026-10")).to.equal(false);
    expect(tallies.hasSpent(key + 1, "2026-11")).to.equal(false);
  });

  it("of a past month are kept until their reservations are released", () => {
    const tallies = new Tallies();
    const held = tallies.findOrAdd(key, "2026-10");
    held.reservation = { keyNumber: key } as KeyReservation;
    tallies.findOrAdd(other, "2026-10");
    tallies.findOrAdd(other, "2026-11");
    expect(tallies.find(key, "2026-10")).to.equal(held);
    expect(tallies.isKept(other, "2026-10")).to.equal(false);
    tallies.release(key, "2026-10");
    expect(tallies.isKept(key, "2026-10")).to.equal(false);
  });
});
