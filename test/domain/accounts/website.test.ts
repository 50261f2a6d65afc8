import { expect } from "chai";
import {
  changeOrigins,
  configureWebsite,
  evolveWebsite,
  initialWebsite,
  issueVerification,
  maxEndedVerifications,
  maxPendingVerifications,
  origins,
  registerWebsite,
  renameWebsite,
  verifyOrigin,
  type WebsiteEvent,
  websiteName,
} from "../../../src/domain/accounts/website.ts";
import { Conflict, Invalid, NotFound, Unauthorized } from "../../../src/domain/errors.ts";
import { parse } from "../../../src/domain/validation.ts";

const at = "2026-03-01T12:00:00.000Z";
const later = "2026-03-02T12:00:00.000Z";
const registration = { websiteId: "web_1", name: "Shop", origins: ["https://shop.example"], at };
const registered: WebsiteEvent = { type: "WebsiteRegistered", data: registration };

const expiresAt = "2026-03-01T12:15:00.000Z";
const verification = (changes = {}) => ({
  hash: "h1",
  origin: "https://new.example",
  expiresAt,
  at,
  ...changes,
});
const issued = (changes = {}): WebsiteEvent => ({
  type: "OriginVerificationIssued",
  data: verification(changes),
});

const given = (...events: WebsiteEvent[]) => events.reduce(evolveWebsite, initialWebsite());

describe("a website", () => {
  it("is registered with a name and its origins", () => {
    expect(registerWebsite(given(), registration)).to.deep.equal([registered]);
  });

  it("cannot be registered twice", () => {
    expect(() => registerWebsite(given(registered), registration)).to.throw(Conflict, "web_1");
  });

  it("starts with an empty configuration", () => {
    expect(given(registered)).to.deep.equal({
      status: "registered",
      websiteId: "web_1",
      name: "Shop",
      origins: ["https://shop.example"],
      verifications: [],
      config: {},
      registeredAt: at,
    });
  });

  it("replaces its whole configuration", () => {
    const first: WebsiteEvent = {
      type: "WebsiteConfigured",
      data: { config: { sdkVersion: "v2" }, at },
    };
    const config = { analytics: { enabled: true } };
    const events = configureWebsite(given(registered, first), { config, at: later });
    expect(events).to.deep.equal([{ type: "WebsiteConfigured", data: { config, at: later } }]);
    expect(given(registered, first, ...events)).to.deep.include({ config });
  });

  it("changes its name, unless it has it already", () => {
    const events = renameWebsite(given(registered), { name: "Market", at: later });
    expect(events).to.deep.equal([{ type: "WebsiteRenamed", data: { name: "Market", at: later } }]);
    expect(given(registered, ...events)).to.include({ name: "Market" });
    expect(renameWebsite(given(registered, ...events), { name: "Market", at: later })).to.deep.equal([]);
  });

  it("keeps its format of texts apart from the player's configuration", () => {
    const config = { sdkVersion: "v2", textFormat: "markdown" } as const;
    const events = configureWebsite(given(registered), { config, at: later });
    expect(events).to.deep.equal([
      {
        type: "WebsiteConfigured",
        data: { config: { sdkVersion: "v2" }, textFormat: "markdown", at: later },
      },
    ]);
    expect(given(registered, ...events)).to.deep.include({ config });
    expect(configureWebsite(given(registered, ...events), { config, at: later })).to.deep.equal([]);
    const without = configureWebsite(given(registered, ...events), { config: {}, at: later });
    expect(given(registered, ...events, ...without)).to.deep.include({ config: {} });
  });

  it("produces no event when its configuration is unchanged", () => {
    const config = { voice: { pitch: 1.5 } };
    const website = given(registered, { type: "WebsiteConfigured", data: { config, at } });
    expect(configureWebsite(website, { config: { voice: { pitch: 1.5 } }, at: later })).to.deep.equal([]);
  });

  it("replaces its origins", () => {
    const events = changeOrigins(given(registered), { origins: ["https://new.example"], at: later });
    expect(events).to.deep.equal([
      { type: "OriginsChanged", data: { origins: ["https://new.example"], at: later } },
    ]);
    expect(given(registered, ...events)).to.deep.include({ origins: ["https://new.example"] });
  });

  it("produces no event when its origins are unchanged", () => {
    expect(changeOrigins(given(registered), { origins: registration.origins, at: later })).to.deep.equal([]);
  });

  it("stores the hash, origin and expiry of an issued verification", () => {
    const events = issueVerification(given(registered), verification());
    expect(events).to.deep.equal([issued()]);
    const { hash, origin, expiresAt } = verification();
    expect(given(registered, ...events)).to.deep.include({ verifications: [{ hash, origin, expiresAt }] });
  });

  it("adds an origin when its token is presented from it, and invalidates the token", () => {
    const events = verifyOrigin(given(registered, issued()), {
      hash: "h1",
      origin: "https://new.example",
      at,
    });
    expect(events).to.deep.equal([
      { type: "OriginVerified", data: { hash: "h1", origin: "https://new.example", at } },
    ]);
    const website = given(registered, issued(), ...events);
    expect(website).to.deep.include({ origins: ["https://shop.example", "https://new.example"] });
    expect(verifyOrigin(website, { hash: "h1", origin: "https://new.example", at })).to.deep.equal([]);
  });

  it("does not add an origin twice when it is verified again", () => {
    const shop = "https://shop.example";
    const website = given(registered, issued({ origin: shop }));
    const verified = verifyOrigin(website, { hash: "h1", origin: shop, at });
    expect(given(registered, issued({ origin: shop }), ...verified)).to.deep.include({ origins: [shop] });
  });

  it("accepts only the exact token, only from its origin and only before it expires", () => {
    const website = given(registered, issued());
    const right = { hash: "h1", origin: "https://new.example", at };
    const justBefore = "2026-03-01T12:14:59.999Z";
    for (const wrong of [
      { ...right, origin: "https://shop.example" },
      { ...right, origin: "https://new.example.evil.example" },
      { ...right, origin: "https://new.exampl" },
      { ...right, origin: "null" },
      { ...right, origin: "" },
      { ...right, at: expiresAt },
      { ...right, at: later },
    ]) {
      expect(verifyOrigin(website, wrong)).to.deep.equal([]);
    }
    expect(() => verifyOrigin(website, { ...right, hash: "h2" })).to.throw(Unauthorized);
    expect(() => verifyOrigin(given(), right)).to.throw(Unauthorized);
    expect(verifyOrigin(website, { ...right, at: justBefore })).to.have.length(1);
  });

  it("limits pending verifications and drops expired ones", () => {
    const many = Array.from({ length: maxPendingVerifications }, (_, i) => issued({ hash: `h${i}` }));
    const website = given(registered, ...many);
    expect(() => issueVerification(website, verification())).to.throw(Conflict);
    const further = { ...verification(), at: later, expiresAt: "2026-03-02T12:15:00.000Z" };
    expect(issueVerification(website, further)).to.have.length(1);
  });

  it("keeps the latest ended verifications without dropping pending ones", () => {
    const used = Array.from({ length: maxEndedVerifications + 1 }, (_, i): WebsiteEvent[] => [
      issued({ hash: `h${i}` }),
      { type: "OriginVerified", data: { hash: `h${i}`, origin: "https://new.example", at } },
    ]).flat();
    const website = given(registered, issued({ hash: "pending" }), ...used, issued({ hash: "last" }));
    const verify = (hash: string) => verifyOrigin(website, { hash, origin: "https://new.example", at });
    expect(verify("pending")).to.have.length(1);
    expect(verify("h1")).to.deep.equal([]);
    expect(() => verify("h0")).to.throw(Unauthorized);
  });

  it("refuses a verification when it has the maximum number of origins", () => {
    const all = Array.from({ length: 100 }, (_, i) => `https://${i}.example`);
    const website = given(registered, { type: "OriginsChanged", data: { origins: all, at } });
    expect(() => issueVerification(website, verification())).to.throw(Conflict);
  });

  it("refuses every command before it is registered", () => {
    expect(() => configureWebsite(given(), { config: {}, at })).to.throw(NotFound);
    expect(() => changeOrigins(given(), { origins: [], at })).to.throw(NotFound);
    expect(() => issueVerification(given(), verification())).to.throw(NotFound);
  });

  it("stays absent on events that precede its registration", () => {
    expect(given({ type: "OriginsChanged", data: { origins: [], at } })).to.deep.equal(initialWebsite());
  });

  it("does not change on an event of an unknown type", () => {
    const unknown = { type: "WebsiteMoved", data: {} } as unknown as WebsiteEvent;
    expect(given(registered, unknown)).to.deep.equal(given(registered));
  });
});

describe("an origin", () => {
  const normalised = {
    "https://example.com": "https://example.com",
    "HTTPS://Example.COM": "https://example.com",
    "https://example.com/": "https://example.com",
    "https://example.com:443": "https://example.com",
    "http://example.com:80": "http://example.com",
    "https://example.com:8443": "https://example.com:8443",
    "http://localhost:3000": "http://localhost:3000",
    "https://bücher.example": "https://xn--bcher-kva.example",
    "http://127.0.0.1:8080": "http://127.0.0.1:8080",
    "http://[::1]:8080": "http://[::1]:8080",
  };
  for (const [given, expected] of Object.entries(normalised)) {
    it(`is normalized to the form that browsers send: ${given}`, () => {
      expect(parse(origins, [given])).to.deep.equal([expected]);
    });
  }

  const refused = [
    "",
    "example.com",
    "null",
    "//example.com",
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://",
    "https:example.com",
    "https:\\\\example.com",
    " https://example.com",
    "https://example.com\n",
    "https://exa\tmple.com",
    "https://example.com/path",
    "https://example.com//",
    "https://example.com?",
    "https://example.com?q=1",
    "https://example.com#",
    "https://user@example.com",
    "https://user:pass@example.com",
    "https://*.example.com",
    "https://*",
    "https://example.com:99999",
    `https://${"a".repeat(300)}.example`,
  ];
  for (const text of refused) {
    it(`is refused: ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(() => parse(origins, [text])).to.throw(Invalid);
    });
  }

  it("is reported with its index when it is invalid", () => {
    try {
      parse(origins, ["https://a.example", "nonsense"]);
      expect.fail("accepted");
    } catch (error) {
      expect((error as Invalid).problems.map(({ path }) => path)).to.deep.equal([[1]]);
    }
  });

  it("is stored once if it is given in several spellings", () => {
    const same = ["https://a.example", "https://A.example:443/", "https://b.example"];
    expect(parse(origins, same)).to.deep.equal(["https://a.example", "https://b.example"]);
  });

  it("is refused beyond the limit of 100", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `https://${i}.example`);
    expect(parse(origins, many(100))).to.have.length(100);
    expect(() => parse(origins, many(101))).to.throw(Invalid);
  });
});

describe("a website's name", () => {
  it("has 1 to 200 characters after trimming", () => {
    expect(parse(websiteName, "  Shop  ")).to.equal("Shop");
    expect(parse(websiteName, "x".repeat(200))).to.have.length(200);
    for (const name of ["", "   ", "x".repeat(201)]) expect(() => parse(websiteName, name)).to.throw(Invalid);
  });

  it("has no control characters", () => {
    for (const name of ["a\nb", "a\u001b[31mb", "a\u0000b"]) {
      expect(() => parse(websiteName, name)).to.throw(Invalid);
    }
  });
});
