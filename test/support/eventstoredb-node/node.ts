import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { ServerCredentials, ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { appending } from "./append-call.ts";
import { batchAppending } from "./batch-append-call.ts";
import { type Endpoint, gossip, supportedMethods } from "./cluster.ts";
import { deleting, tombstoning } from "./delete-calls.ts";
import { type EventLogOptions, openEventLog } from "./event-log.ts";
import { createFaultInjection } from "./fault-injection.ts";
import type { Faults } from "./faults.ts";
import { projecting } from "./projection-calls.ts";
import {
  GossipService,
  grpc,
  ProjectionsService,
  ServerFeaturesService,
  StreamsService,
} from "./protobuf.ts";
import { reading } from "./read-call.ts";

/**
 * A small EventStoreDB node for tests: the gRPC services that the driver uses, over TCP, with the rules for revisions,
 * repeats and retention that were measured on EventStoreDB 24.2.0 and KurrentDB 26.0.3:
 *
 * - With an index lag, reads and subscriptions show only what is indexed, and a success is answered once the events are
 *   indexed; a conflict is answered at once, with the committed revision.
 * - A repeat with the same ids that arrives before the first append is indexed is answered with `deadline-exceeded` after
 *   the commit timeout, though the events are stored.
 * - With the stream's current revision as expectation ids are not compared: the same id is stored again.
 * - Projections fault for good on JSON with a raw U+2028 or U+2029, or that is a string or null, when the script touches
 *   `data`; one with a syntax error makes the status of all projections, and its own, fail with code 2.
 *
 * Left out: clusters and replication (one node; a leader can only be named), the commit timeout of a first append, whose
 * lag is taken to be shorter, the limit of remembered ids (`forgetIds` instead), access control beyond one set of
 * credentials, checkpoints and results of projections, which run over the whole log whenever their state is asked for,
 * compressed answers, persistent subscriptions, and scavenges by time.
 */
export interface EventStoreDBNodeOptions extends EventLogOptions {
  /** Default: any that is free. */
  readonly port?: number;
  /** Serves TLS with this key and certificate (PEM). */
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer };
  /** The only credentials (`user:password`) that are let in; asked for over TLS alone, as clients send none without. */
  readonly credentials?: string;
  /** Whether it takes appends in one stream of many; otherwise clients send each in a call of its own. Default true. */
  readonly batchAppend?: boolean;
  /** Whether it runs projections. Default true. */
  readonly projections?: boolean;
  /** Where discovery is sent to. Default: here. */
  readonly leader?: () => Endpoint;
}

export interface EventStoreDBNode {
  /** What a client connects to. */
  readonly url: string;
  readonly port: number;
  readonly faults: Faults;
  /** Takes what retention hides from streams out of $all too. */
  scavenge(): void;
  /** Cuts what is open and ends; the data file stays. */
  close(): Promise<void>;
}

const host = "127.0.0.1";

/** Starts a small node that speaks to EventStoreDB clients over TCP. */
export const startEventStoreDBNode = async (
  options: EventStoreDBNodeOptions = {},
): Promise<EventStoreDBNode> => {
  const log = openEventLog(options);
  const sockets = new Set<Socket>();
  const board = createFaultInjection(log.forgetIds, () => {
    for (const socket of sockets) socket.destroy();
  });
  const server = new grpc.Server({ interceptors: options.credentials ? [letIn(options.credentials)] : [] });
  server.addService(StreamsService, {
    read: reading(log, board),
    append: appending(log, board),
    batchAppend: batchAppending(log, board),
    delete: deleting(log),
    tombstone: tombstoning(log),
  });
  if (options.projections ?? true) server.addService(ProjectionsService, projecting(log, board));
  server.addService(ServerFeaturesService, {
    getSupportedMethods: supportedMethods(board, options.batchAppend ?? true),
  });
  server.addService(GossipService, { read: gossip(options.leader ?? (() => ({ host, port }))) });

  // Through a listener of our own, so that its connections can be cut.
  const injector = server.createConnectionInjector(serverCredentials(options.tls));
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    injector.injectConnection(socket);
  });
  listener.listen(options.port ?? 0, host);
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;

  return {
    url: `esdb://${host}:${port}?tls=${options.tls !== undefined}`,
    port,
    faults: board.faults,
    scavenge: log.scavenge,
    close: async () => {
      const closed = once(listener, "close");
      listener.close();
      injector.destroy();
      for (const socket of sockets) socket.destroy();
      server.forceShutdown();
      await closed;
      log.close();
    },
  };
};

const serverCredentials = (tls: EventStoreDBNodeOptions["tls"]): ServerCredentials => {
  if (!tls) return grpc.ServerCredentials.createInsecure();
  return grpc.ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }]);
};

/** Turns away every call for streams without these credentials; what a server can do, it tells anybody. */
const letIn = (credentials: string) => {
  const wanted = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return (method: { readonly path: string }, call: ServerInterceptingCallInterface) =>
    new grpc.ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, go) => {
            const isOpen = !method.path.startsWith("/event_store.client.streams.");
            if (isOpen || metadata.get("authorization")[0] === wanted) return go(metadata);
            const refusal = new grpc.Metadata();
            refusal.set("exception", "access-denied");
            call.sendStatus({
              code: grpc.status.PERMISSION_DENIED,
              details: "Access Denied",
              metadata: refusal,
            });
          },
        }),
    });
};
