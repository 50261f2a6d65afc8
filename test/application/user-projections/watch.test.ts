import { expect } from "chai";
import { watchUserProjections } from "../../../src/application/user-projections/watch.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { ProjectionServerBusy, type ServerProjection } from "../../../src/eventstore/projection-server.ts";
import { createManualTime, until } from "../../support/manual-time.ts";

const names = ["voxledger-catalog-v3", "voxledger-rate-v2"];

/** Watches a server with these projections. */
const watching = () => {
  const time = createManualTime();
  const projections = new Map<string, Omit<ServerProjection, "name">>();
  let failure: EventStoreUnavailable | undefined;
  let questions = 0;
  const find = async (name: string): Promise<ServerProjection | undefined> => {
    questions += 1;
    if (failure) throw failure;
    const found = projections.get(name);
    return found && { name, ...found };
  };
  const watch = watchUserProjections({ server: { find, close: async () => {} }, names, time });
  return {
    watch,
    projections,
    failWith: (error: EventStoreUnavailable | undefined) => {
      failure = error;
    },
    /** Lets a minute pass, and the questions be answered. */
    minute: async () => {
      const before = questions;
      await until(() => time.waiting() > 0);
      time.advance(60_000);
      await until(() => questions > before && time.waiting() > 0);
    },
  };
};

describe("the watch of user projections", () => {
  it("reports the projections that are installed, with their progress", async () => {
    const { watch, projections, minute } = watching();
    expect(watch.installed()).to.deep.equal([]);
    projections.set("voxledger-rate-v2", { state: "running", progress: 40 });
    await minute();
    expect(watch.installed()).to.deep.equal([{ name: "voxledger-rate-v2", state: "running", progress: 40 }]);
    expect(watch.note()).to.equal(undefined);
    await watch.close();
  });

  it("names those that do not run, without the server's reason, which may name streams", async () => {
    const { watch, projections, minute } = watching();
    projections.set("voxledger-catalog-v3", { state: "stopped" });
    projections.set("voxledger-rate-v2", { state: "faulted", reason: "usage-vlk_s3cret", mayRecover: true });
    await minute();
    expect(watch.note()).to.equal(
      "voxledger-catalog-v3 is stopped, voxledger-rate-v2 is faulted: see voxledger projections status",
    );
    await watch.close();
  });

  it("reports nothing while the server does not respond, or shows this user no projections", async () => {
    const { watch, projections, minute, failWith } = watching();
    projections.set("voxledger-rate-v2", { state: "faulted" });
    await minute();
    failWith(new EventStoreUnavailable("down"));
    await minute();
    expect(watch.installed()).to.deep.equal([]);
    expect(watch.note()).to.equal(undefined);
    failWith(undefined);
    await minute();
    expect(watch.installed()).to.have.length(1);
    await watch.close();
  });

  it("keeps what a server reported that is too busy to respond", async () => {
    const { watch, projections, minute, failWith } = watching();
    projections.set("voxledger-rate-v2", { state: "faulted" });
    await minute();
    failWith(new ProjectionServerBusy("busy"));
    await minute();
    expect(watch.installed()).to.deep.equal([{ name: "voxledger-rate-v2", state: "faulted" }]);
    await watch.close();
  });
});
