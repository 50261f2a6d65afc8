import { expect } from "chai";
import fc from "fast-check";
import {
  isVerifiedOrigin,
  type VerifiedOrigins,
  verifiedOrigins,
} from "../../projections/verified-origins.ts";
import { websites } from "../../projections/websites.ts";
import { type Website, websiteStream } from "../../src/domain/accounts/website.ts";
import { type LogEvent, recordEvents, viewOf } from "./fold-events.ts";

const at = "2026-03-01T12:00:00.000Z";
const origins = ["https://a.example", "https://b.example", "https://c.example"];
const ids = ["1", "2", "3"];

const someOrigins = fc.subarray(origins);
const eventOf = (id: string): fc.Arbitrary<LogEvent> =>
  fc
    .oneof(
      someOrigins.map((some) => ({ type: "OriginsChanged", data: { origins: some, at } })),
      fc
        .constantFrom(...origins)
        .map((origin) => ({ type: "OriginVerified", data: { hash: "h", origin, at } })),
      fc.constant({ type: "WebsiteConfigured", data: { config: {}, at } }),
    )
    .map((event) => ({ stream: websiteStream(id), ...event }));

const registrations = ids.map(
  (id): LogEvent => ({
    stream: websiteStream(id),
    type: "WebsiteRegistered",
    data: { websiteId: id, name: id, origins: [], at },
  }),
);
const histories = fc
  .array(fc.constantFrom(...ids).chain(eventOf), { maxLength: 30 })
  .map((events) => recordEvents([...registrations, ...events]));

describe("the verified origins projection", () => {
  it("has an origin exactly while a website has it, with and without a snapshot", () => {
    fc.assert(
      fc.property(histories, fc.nat(), (events, cutAt) => {
        const cut = cutAt % (events.length + 1);
        const before = viewOf<VerifiedOrigins>(verifiedOrigins, events.slice(0, cut));
        const resumed = viewOf<VerifiedOrigins>(verifiedOrigins, events.slice(cut), before);
        const theirs = new Set(
          [...viewOf<Website>(websites, events).entries()].flatMap(([, website]) =>
            website.status === "registered" ? website.origins : [],
          ),
        );
        for (const origin of origins) {
          expect(isVerifiedOrigin(resumed, origin)).to.equal(theirs.has(origin));
        }
      }),
    );
  });

  it("has no origin named like a JavaScript object member, and none before the first website", () => {
    const view = viewOf<VerifiedOrigins>(verifiedOrigins, recordEvents(registrations));
    for (const name of ["constructor", "__proto__", "", "null"]) {
      expect(isVerifiedOrigin(view, name)).to.equal(false);
    }
    expect(isVerifiedOrigin(viewOf<VerifiedOrigins>(verifiedOrigins, []), "https://a.example")).to.equal(
      false,
    );
  });
});
