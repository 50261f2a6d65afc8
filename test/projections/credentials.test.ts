import { expect } from "chai";
import { credentials } from "../../projections/credentials.ts";
import type { Credentials } from "../../src/domain/accounts/credentials.ts";
import { type LogEvent, recordEvents, viewOf } from "./fold-events.ts";

const at = "2026-03-01T12:00:00.000Z";
const set = (website: string, ciphertext: string): LogEvent => ({
  stream: `credentials-${website}`,
  type: "CredentialsSet",
  data: {
    engine: "gwn",
    provider: "google",
    ciphertext,
    keyId: "k1",
    voices: [{ name: "v", gender: "f" }],
    at,
  },
});
const removed = (website: string): LogEvent => ({
  stream: `credentials-${website}`,
  type: "CredentialsRemoved",
  data: { engine: "gwn", at },
});

describe("the credentials projection", () => {
  it("shows each website's credentials from its stream", () => {
    const view = viewOf<Credentials>(
      credentials,
      recordEvents([set("a", "v1.a"), set("b", "v1.b"), removed("a")]),
    );
    expect(view.get("credentials-a")?.byEngine).to.deep.equal({});
    expect(view.get("credentials-b")?.byEngine.gwn?.ciphertext).to.equal("v1.b");
    expect(view.get("credentials-c")).to.equal(undefined);
  });

  it("continues from a JSON snapshot with the same result", () => {
    const events = recordEvents([set("a", "v1.1"), removed("a"), set("a", "v1.2"), set("b", "v1.3")]);
    const whole = [...viewOf<Credentials>(credentials, events).entries()];
    for (let cut = 0; cut <= events.length; cut++) {
      const before = viewOf<Credentials>(credentials, events.slice(0, cut));
      const resumed = viewOf<Credentials>(credentials, events.slice(cut), before);
      expect([...resumed.entries()]).to.deep.equal(whole);
    }
  });
});
