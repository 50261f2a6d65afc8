import { expect } from "chai";
import { allWebsites, findWebsite, websites } from "../../projections/websites.ts";
import type { Website } from "../../src/domain/accounts/website.ts";
import { type LogEvent, recordEvents, viewOf } from "./fold-events.ts";

const at = "2026-03-01T12:00:00.000Z";
const registered = (id: string): LogEvent => ({
  stream: `website-${id}`,
  type: "WebsiteRegistered",
  data: { websiteId: id, name: id, origins: [], at },
});
const configured = (id: string): LogEvent => ({
  stream: `website-${id}`,
  type: "WebsiteConfigured",
  data: { config: { features: { webPlayer: { theme: { bg: "#fff" } } } }, at },
});

const view = (...events: LogEvent[]) => viewOf<Website>(websites, recordEvents(events));

describe("the websites projection", () => {
  it("folds each stream into its own state", () => {
    const shown = view(registered("a"), registered("b"), configured("b"));
    expect(findWebsite(shown, "a")).to.deep.include({ websiteId: "a", config: {} });
    expect(findWebsite(shown, "b")?.config).to.deep.equal({
      features: { webPlayer: { theme: { bg: "#fff" } } },
    });
  });

  it("lists websites in the order of their first events", () => {
    const all = allWebsites(view(registered("b"), registered("a"), configured("b")));
    expect(all.map(({ websiteId }) => websiteId)).to.deep.equal(["b", "a"]);
  });

  it("shows no entry without its first event", () => {
    const shown = view(configured("a"), registered("b"));
    expect(findWebsite(shown, "a")).to.equal(undefined);
    expect(allWebsites(shown).map(({ websiteId }) => websiteId)).to.deep.equal(["b"]);
  });

  it("returns undefined for an unknown website", () => {
    expect(findWebsite(view(), "a")).to.equal(undefined);
  });

  it("continues from a JSON snapshot with the same result", () => {
    const events = recordEvents([registered("a"), configured("a"), registered("b"), configured("b")]);
    for (let cut = 0; cut <= events.length; cut++) {
      const resumed = viewOf<Website>(
        websites,
        events.slice(cut),
        viewOf<Website>(websites, events.slice(0, cut)),
      );
      expect([...resumed.entries()]).to.deep.equal([...viewOf<Website>(websites, events).entries()]);
    }
  });
});
