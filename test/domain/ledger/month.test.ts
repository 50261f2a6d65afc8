import { expect } from "chai";
import { addMonths, monthOf, monthsBetween, startOfMonth } from "../../../src/domain/ledger/month.ts";

describe("a month", () => {
  it("is the beginning of a time", () => {
    expect(monthOf("2026-11-30T23:59:59.999Z")).to.equal("2026-11");
  });

  it("begins with its first day, in UTC", () => {
    expect(new Date(startOfMonth("2026-11")).toISOString()).to.equal("2026-11-01T00:00:00.000Z");
    expect(new Date(startOfMonth("2026-12", 1)).toISOString()).to.equal("2027-01-01T00:00:00.000Z");
  });

  it("is followed and preceded by months of other years", () => {
    expect(addMonths("2026-12", 1)).to.equal("2027-01");
    expect(addMonths("2026-01", -1)).to.equal("2025-12");
    expect(addMonths("2026-03", -15)).to.equal("2024-12");
    expect(addMonths("2026-03", 0)).to.equal("2026-03");
  });

  it("lies between two others, which are included", () => {
    expect(monthsBetween("2026-11", "2027-01")).to.deep.equal(["2026-11", "2026-12", "2027-01"]);
    expect(monthsBetween("2026-11", "2026-11")).to.deep.equal(["2026-11"]);
    expect(monthsBetween("2026-11", "2026-10")).to.deep.equal([]);
    expect(monthsBetween("9999-11", "9999-12")).to.deep.equal(["9999-11", "9999-12"]);
  });
});
