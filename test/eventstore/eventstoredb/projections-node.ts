import { openProjectionServer } from "../../../src/eventstore/eventstoredb/projection-server.ts";
import type { ProjectionServer } from "../../../src/eventstore/projection-server.ts";
import {
  type EventStoreDBNode,
  type EventStoreDBNodeOptions,
  startEventStoreDBNode,
} from "../../support/eventstoredb-node/node.ts";

/** A node for each test, which `start` starts, and the connection to its projections. */
export const projectionsNode = () => {
  let opened: { readonly node: EventStoreDBNode; readonly server: ProjectionServer } | undefined;
  const running = () => {
    if (!opened) throw new Error("The node has not started.");
    return opened;
  };
  afterEach(async () => {
    await opened?.server.close();
    await opened?.node.close();
    opened = undefined;
  });
  return {
    start: async (options: EventStoreDBNodeOptions = {}): Promise<void> => {
      const node = await startEventStoreDBNode(options);
      opened = { node, server: openProjectionServer(node.url) };
    },
    get node() {
      return running().node;
    },
    get server() {
      return running().server;
    },
  };
};
