import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { ServerCredentials, ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { handleAppend } from "./append-call.ts";
import { handleBatchAppend } from "./batch-append-call.ts";
import { type Endpoint, gossip, supportedMethods } from "./cluster.ts";
import { handleDelete, handleTombstone } from "./delete-calls.ts";
import { type EventLogOptions, openEventLog } from "./event-log.ts";
import { createFaultInjection } from "./fault-injection.ts";
import type { Faults } from "./faults.ts";
import { createProjectionHandlers, type ProjectionOptions } from "./projection-calls.ts";
import {
  GossipService,
  grpc,
  ProjectionsService,
  ServerFeaturesService,
  StreamsService,
} from "./protobuf.ts";
import { handleRead } from "./read-call.ts";

/**
 * A small EventStoreDB node for tests: the gRPC services that the driver uses, over TCP, with the
 * rules for revisions, repeats and retention that were measured on EventStoreDB 24.2.0 and
 * KurrentDB 26.0.3:
 *
 * - With an index lag, reads and subscriptions show only what is indexed, and a success is
 *   completed once the events are indexed; a conflict is completed at once, with the committed
 *   revision.
 * - A repeat with the same ids that arrives before the first append is indexed gets
 *   `deadline-exceeded` after the commit timeout, though the events are stored.
 * - An append whose deadline, a time of the client's clock, has passed by the node's clock is
 *   completed with `deadline-exceeded`, and not stored.
 * - If the expected revision is the stream's current one, ids are not compared: the same id is
 *   stored again.
 * - A projection faults for good when its script touches the `data` of an event whose JSON is a
 *   string or null, or has a raw U+2028 or U+2029, or when it takes longer than 250 ms.
 * - A projection whose script has a syntax error, or is not compiled within 500 ms, makes the
 *   status of all projections, and its own, fail with code 2.
 * - A projection that runs cannot be removed: the call ends with the client's deadline.
 *
 * Not implemented: clusters and replication (a leader can only be named), the commit timeout of a
 * first append, the limit of remembered ids (see `forgetIds`), access control beyond one set of
 * credentials, checkpoints and results of projections (they handle events when somebody asks for
 * their status, and take the times that tests state), compression, persistent subscriptions, and
 * scavenges by time.
 */
export interface EventStoreDBNodeOptions extends EventLogOptions, ProjectionOptions {
  /** Default: any that is free. */
  readonly port?: number;
  /** Serves TLS with this key and certificate (PEM). */
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer };
  /**
   * The only accepted credentials (`user:password`). Requires TLS: without it clients send none.
   */
  readonly credentials?: string;
  /** Supports `BatchAppend`; otherwise clients send each append in its own call. Default: true. */
  readonly batchAppend?: boolean;
  /** Runs projections. Default: true. */
  readonly projections?: boolean;
  /** The leader that discovery names. Default: this node. */
  readonly leader?: () => Endpoint;
}

export interface EventStoreDBNode {
  /** The connection string. */
  readonly url: string;
  readonly port: number;
  readonly faults: Faults;
  /** Removes from $all the events that retention hides. */
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
  const injection = createFaultInjection(log.forgetIds, () => {
    for (const socket of sockets) socket.destroy();
  });
  const server = new grpc.Server({
    interceptors: options.credentials ? [requireCredentials(options.credentials)] : [],
  });
  server.addService(StreamsService, {
    read: handleRead(log, injection),
    append: handleAppend(log, injection),
    batchAppend: handleBatchAppend(log, injection),
    delete: handleDelete(log),
    tombstone: handleTombstone(log),
  });
  if (options.projections ?? true)
    server.addService(ProjectionsService, createProjectionHandlers(log, injection, options));
  server.addService(ServerFeaturesService, {
    getSupportedMethods: supportedMethods(injection, options.batchAppend ?? true),
  });
  server.addService(GossipService, { read: gossip(options.leader ?? (() => ({ host, port }))) });

  // A separate listener, so that its connections can be destroyed.
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
    faults: injection.faults,
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

/** Refuses calls of the streams service without these credentials. */
const requireCredentials = (credentials: string) => {
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
