import { expect } from "chai";
import { allKeys, findKey, keys } from "../../projections/keys.ts";
import type { Key } from "../../src/domain/accounts/key.ts";
import { freePlan } from "../../src/domain/accounts/plan.ts";
import { type LogEvent, recordEvents, viewOf } from "./fold-events.ts";

const at = "2026-03-01T12:00:00.000Z";
const stream = (apiKey: string) => `key-${apiKey}`;
const issued = (apiKey: string, websiteId: string): LogEvent => ({
  stream: stream(apiKey),
  type: "KeyIssued",
  data: { apiKey, websiteId, plan: freePlan, at },
});
const secret = (apiKey: string): LogEvent => ({
  stream: stream(apiKey),
  type: "SecretCreated",
  data: { secretId: "sec_1", hash: "00", at },
});
const suspended = (apiKey: string): LogEvent => ({
  stream: stream(apiKey),
  type: "KeySuspended",
  data: { cause: "operator", reason: "abuse", at },
});

const view = (...events: LogEvent[]) => viewOf<Key>(keys, recordEvents(events));

describe("the keys projection", () => {
  it("folds each stream into its own state", () => {
    const shown = view(issued("a", "web_1"), issued("b", "web_1"), secret("b"), suspended("a"));
    expect(findKey(shown, "a")).to.deep.include({ status: "suspended", reason: "abuse", secrets: [] });
    expect(findKey(shown, "b")).to.deep.include({
      status: "active",
      secrets: [{ secretId: "sec_1", hash: "00", createdAt: at }],
    });
  });

  it("lists all keys or one website's, in the order of their first events", () => {
    const shown = view(issued("c", "web_1"), issued("a", "web_2"), issued("b", "web_1"), suspended("c"));
    expect(allKeys(shown).map(({ apiKey }) => apiKey)).to.deep.equal(["c", "a", "b"]);
    expect(allKeys(shown, "web_1").map(({ apiKey }) => apiKey)).to.deep.equal(["c", "b"]);
  });

  it("shows no entry without its first event", () => {
    const shown = view(suspended("a"));
    expect(findKey(shown, "a")).to.equal(undefined);
    expect(allKeys(shown)).to.deep.equal([]);
  });

  it("ignores events of newer versions", () => {
    const newer: LogEvent = { stream: stream("a"), type: "KeyRenamed", data: { name: "x" } };
    expect(findKey(view(issued("a", "web_1"), newer), "a")).to.deep.equal(
      findKey(view(issued("a", "web_1")), "a"),
    );
  });

  it("continues from a JSON snapshot with the same result", () => {
    const events = recordEvents([
      issued("a", "web_1"),
      secret("a"),
      issued("b", "web_2"),
      suspended("a"),
      secret("b"),
    ]);
    for (let cut = 0; cut <= events.length; cut++) {
      const resumed = viewOf<Key>(keys, events.slice(cut), viewOf<Key>(keys, events.slice(0, cut)));
      expect([...resumed.entries()]).to.deep.equal([...viewOf<Key>(keys, events).entries()]);
    }
  });
});
