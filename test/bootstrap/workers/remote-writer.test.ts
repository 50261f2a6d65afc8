import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  openRemoteWriter,
  serveWriter,
  type WriteCalls,
} from "../../../src/bootstrap/workers/remote-writer.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { startThreads } from "../../../src/eventstore/sqlite/threads.ts";
import { openWriter, type Writer } from "../../../src/eventstore/sqlite/writer.ts";
import type { Protocol } from "../../../src/workers/port.ts";
import { eventStoreContract } from "../../contracts/event-store.ts";
import { rejection } from "../../support/rejection.ts";
import { linkedPorts } from "../../workers/linked-ports.ts";

const connectTo = (writer: Writer) => {
  const ports = linkedPorts<Protocol, WriteCalls>();
  ports.primary(serveWriter(writer));
  const port = ports.worker({});
  return { port, remote: openRemoteWriter(port) };
};

eventStoreContract("sqlite, written by the primary", async () => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-events-"));
  const path = join(folder, "events.db");
  const writer = await openWriter(path);
  let now = Date.UTC(2026, 0, 1);
  const open = async () => {
    const threads = await startThreads({ path, writer: connectTo(writer).remote });
    return await openSqliteEventStore({ path, clock: () => now, threads });
  };
  const store = await open();
  return {
    store,
    again: open,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    end: async () => {
      await store.close();
      await writer.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});

describe("the writer of the primary", () => {
  it("is unavailable to a worker when it fails, and when the primary has ended", async () => {
    const failing: Writer = {
      call: () => Promise.reject(new EventStoreUnavailable("the event store failed: the disk is full")),
      close: async () => {},
    };
    const { port, remote } = connectTo(failing);
    expect(await rejection(remote.call("probe", undefined)))
      .to.be.instanceOf(EventStoreUnavailable)
      .with.property("message", "the event store failed: the disk is full");
    port.close();
    expect(await rejection(remote.call("probe", undefined))).to.be.instanceOf(EventStoreUnavailable);
  });
});
