import { expect } from "chai";
import { Command } from "commander";
import { registerProjectionCommands } from "../../../src/cli/commands/projections.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import type { ProjectionServer, ServerProjection } from "../../../src/eventstore/projection-server.ts";
import { rejection } from "../../support/rejection.ts";

/** A server that runs this projection of an earlier version, and every one that it gets. */
const serverWith = (earlier: string, remove: (name: string) => Promise<void>): ProjectionServer => {
  const running = (name: string): ServerProjection => ({
    name,
    state: "running",
    progress: 100,
    mayRecover: false,
  });
  const all = new Map([[earlier, running(earlier)]]);
  return {
    find: async (name) => all.get(name),
    create: async (name) => void all.set(name, running(name)),
    update: async () => undefined,
    enable: async () => undefined,
    disable: async (name) => void all.set(name, { ...running(name), state: "stopped" }),
    remove,
    close: async () => undefined,
  };
};

describe("the command projections install", () => {
  const earlier = "voxledger-rate-v1";
  const install = async (remove: (name: string) => Promise<void>): Promise<string> => {
    let printed = "";
    const program = new Command().option("--json").configureOutput({
      writeOut: (text) => {
        printed += text;
      },
    });
    registerProjectionCommands(
      program,
      async () => serverWith(earlier, remove),
      () => "",
    );
    const installed = program.parseAsync(["projections", "install"], { from: "user" });
    await installed.finally(() => expect(printed).to.match(new RegExp(`^${earlier} `, "m")));
    return printed;
  };

  it("succeeds if the earlier versions are removed", async () => {
    expect(await install(async () => undefined)).to.match(/^voxledger-rate-v1 +removed/m);
  });

  it("fails if an earlier version could not be removed, and says why", async () => {
    const failure = await rejection(
      install(() => Promise.reject(new EventStoreUnavailable("the deadline has passed"))),
    );
    expect(failure).to.have.property(
      "message",
      `earlier versions not removed, so run it again: ${earlier} (changing: the deadline has passed)`,
    );
  });
});
