import { expect } from "chai";
import {
  changeOrigins,
  configureWebsite,
  eraseWebsite,
  evolveOrigins,
  evolveWebsite,
  initialWebsite,
  issueVerification,
  registerWebsite,
  verifyOrigin,
  type WebsiteEvent,
} from "../../../src/domain/accounts/website.ts";
import { Conflict, NotFound, Unauthorized } from "../../../src/domain/errors.ts";

const at = "2026-03-01T12:00:00.000Z";
const later = "2026-03-02T12:00:00.000Z";
const registration = { websiteId: "web_1", name: "Shop", origins: ["https://shop.example"], at };
const registered: WebsiteEvent = { type: "WebsiteRegistered", data: registration };
const verification = { hash: "h1", origin: "https://new.example", expiresAt: later, at };
const issued: WebsiteEvent = { type: "OriginVerificationIssued", data: verification };

const given = (...events: WebsiteEvent[]) => events.reduce(evolveWebsite, initialWebsite());

describe("an erased website", () => {
  const erased: WebsiteEvent = { type: "WebsiteErased", data: { at: later } };
  const website = given(registered, erased);

  it("keeps only its id and times", () => {
    const known = { status: "erased", websiteId: "web_1", registeredAt: at, erasedAt: later };
    expect(website).to.deep.equal(known);
    expect(evolveOrigins(["https://shop.example"], erased)).to.deep.equal([]);
  });

  it("is erased once; an absent website cannot be erased", () => {
    expect(eraseWebsite(given(registered), { at: later })).to.deep.equal([erased]);
    expect(eraseWebsite(website, { at: later })).to.deep.equal([]);
    expect(() => eraseWebsite(given(), { at })).to.throw(NotFound);
  });

  it("cannot be registered again, configured, or get origins", () => {
    expect(() => registerWebsite(website, registration)).to.throw(Conflict);
    expect(() => configureWebsite(website, { config: {}, at })).to.throw(NotFound);
    expect(() => changeOrigins(website, { origins: [], at })).to.throw(NotFound);
    expect(() => issueVerification(website, verification)).to.throw(NotFound);
    expect(() => verifyOrigin(website, verification)).to.throw(Unauthorized);
    expect([registered, issued].reduce(evolveWebsite, website)).to.equal(website);
  });
});
