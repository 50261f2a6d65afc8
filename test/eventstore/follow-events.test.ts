import { expect } from "chai";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { type Following, follow } from "../../src/eventstore/follow-events.ts";
import { event } from "../contracts/event-store/events.ts";
import { duringTest } from "../support/during.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { until } from "../support/processes.ts";

describe("a followed subscription", () => {
  const node = duringTest(startEventStoreDBNode);
  const store = duringTest(() => openEventStoreDB({ url: node.url }));
  let time: ManualTime;
  let following: Following;
  let delivered: string[];

  beforeEach(async () => {
    time = createManualTime();
    delivered = [];
  });

  afterEach(async () => {
    following.close();
  });

  const append = async (stream: string): Promise<string> => {
    const one = event();
    await store.append(stream, [one], "any");
    return one.id;
  };

  const start = (options: Partial<Parameters<typeof follow>[0]> = {}): Following => {
    following = follow({
      store,
      prefixes: ["a-"],
      onBatch: ({ events }) => {
        delivered.push(...events.map(({ id }) => id));
      },
      time,
      ...options,
    });
    return following;
  };

  it("delivers each event once, also after the server has ended the subscription", async () => {
    const first = await append("a-1");
    await append("b-1");
    await start({ except: "a-own" }).caughtUp;
    expect(delivered).to.deep.equal([first]);
    node.faults.dropSubscriptions();
    await append("a-own");
    const second = await append("a-2");
    await until("the second event is delivered", () => {
      time.advance(1_000);
      return delivered.length === 2;
    });
    expect(delivered).to.deep.equal([first, second]);
  });

  it("delivers a batch again when its consumer has failed", async () => {
    const first = await append("a-1");
    const errors: unknown[] = [];
    let failures = 1;
    const { caughtUp } = start({
      onBatch: ({ events }) => {
        if (events.length > 0 && failures-- > 0) throw new Error("failed");
        delivered.push(...events.map(({ id }) => id));
      },
      onError: (error) => errors.push(error),
    });
    await until("the subscription has failed", () => time.waiting() > 0);
    time.advance(1_000);
    await caughtUp;
    expect(delivered).to.deep.equal([first]);
    expect(errors).to.have.length(1);
  });

  it("ends with close, also while it waits for the next attempt", async () => {
    const errors: unknown[] = [];
    node.faults.refuse(14);
    const { caughtUp, close } = start({ onError: (error) => errors.push(error) });
    await until("the subscription has failed", () => time.waiting() > 0);
    close();
    await caughtUp;
    expect(errors).to.have.length(1);
    expect(time.waiting()).to.equal(0);
  });
});
