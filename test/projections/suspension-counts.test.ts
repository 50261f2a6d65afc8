import { expect } from "chai";
import type { LiveView } from "../../projections/runner/view.ts";
import {
  createSuspensionCounts,
  type KeySuspensions,
  suspensionCounts,
} from "../../projections/suspension-counts.ts";
import { type LogEvent, recordEvents, viewOf } from "./fold-events.ts";

const at = "2026-03-01T12:00:00.000Z";
const suspended = (key: string, cause: string): LogEvent => ({
  stream: `key-${key}`,
  type: "KeySuspended",
  data: { cause, reason: "why", at },
});
const reinstated = (key: string): LogEvent => ({
  stream: `key-${key}`,
  type: "KeyReinstated",
  data: { reason: "paid", at },
});
const secret: LogEvent = { stream: "key-a", type: "SecretCreated", data: { secretId: "s", hash: "00", at } };

const live = (events: readonly LogEvent[]): LiveView<KeySuspensions> => {
  const view = viewOf<KeySuspensions>(suspensionCounts, recordEvents(events));
  return {
    get: (name) => view.get(name),
    entries: () => view.entries(),
    size: view.size,
    changes: events.length,
  };
};
const count = (...events: LogEvent[]) => createSuspensionCounts(live(events))();

describe("the counts of suspensions", () => {
  it("are the keys that are suspended now, and all suspensions and reinstatements by cause", () => {
    const counts = count(
      suspended("a", "quota"),
      reinstated("a"),
      suspended("a", "quota"),
      secret,
      suspended("b", "quota"),
      suspended("c", "operator"),
      reinstated("c"),
    );
    expect(counts).to.deep.equal({
      suspendedKeys: { quota: 2, operator: 0 },
      suspensions: { quota: 3, operator: 1 },
      reinstatements: { quota: 1, operator: 1 },
    });
  });

  it("count a suspension by an operator that replaces one by quota under both causes", () => {
    const counts = count(suspended("a", "quota"), suspended("a", "operator"), reinstated("a"));
    expect(counts.suspendedKeys).to.deep.equal({ quota: 0, operator: 0 });
    expect(counts.suspensions).to.deep.equal({ quota: 1, operator: 1 });
    expect(counts.reinstatements).to.deep.equal({ quota: 0, operator: 1 });
  });

  it("have no other causes than those of this version", () => {
    const counts = count(suspended("a", "fraud"), reinstated("a"), reinstated("b"));
    const none = { quota: 0, operator: 0 };
    expect(counts).to.deep.equal({ suspendedKeys: none, suspensions: none, reinstatements: none });
  });

  it("begin at zero for each cause, so that the first suspension is an increase", () => {
    expect(count().suspensions).to.deep.equal({ quota: 0, operator: 0 });
  });

  it("hold partitions only of keys that were suspended", () => {
    expect([...live([secret, suspended("b", "quota")]).entries()].map(([name]) => name)).to.deep.equal([
      "key-b",
    ]);
  });

  it("are added up again only after a change", () => {
    let reads = 0;
    const view = live([suspended("a", "quota")]);
    const counts = createSuspensionCounts({
      ...view,
      entries: () => {
        reads += 1;
        return view.entries();
      },
    });
    expect(counts()).to.equal(counts());
    expect(reads).to.equal(1);
  });
});
