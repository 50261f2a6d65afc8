import { expect } from "chai";
import { keys } from "../../../projections/keys.ts";
import { readView } from "../../../projections/runner/read-view.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { append, issued } from "../../support/logged-events.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

describe("a view read for one command", () => {
  it("is refused if the subscription ends before the end of the log", async () => {
    const { store, remove } = await openTemporaryStore();
    await append(store, issued("a"));
    const broken: typeof store = {
      ...store,
      async *subscribe(options) {
        for await (const batch of store.subscribe(options)) return yield { ...batch, caughtUp: false };
      },
    };
    expect((await readView(store, keys, "all")).size).to.equal(1);
    expect(await rejection(readView(broken, keys, "all"))).to.be.instanceOf(EventStoreUnavailable);
    await remove();
  });
});
