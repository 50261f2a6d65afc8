import { EventStoreUnavailable } from "./event-store.ts";

/** The port to a server that runs projections itself: what `voxledger projections` needs of it. */
export interface ProjectionServer {
  /**
   * The projection of this name, or undefined. There is no list: a server cannot list its
   * projections while one of them is not compiled.
   * @throws {EventStoreUnavailable}
   */
  find(name: string): Promise<ServerProjection | undefined>;
  /**
   * Creates a projection that starts at the log's beginning.
   * @throws {ProjectionServerBusy} also if it exists, because another process has just created it
   * @throws {EventStoreUnavailable}
   */
  create(name: string, query: string): Promise<void>;
  /**
   * Replaces a projection's script. It continues from its position.
   * @throws {EventStoreUnavailable}
   */
  update(name: string, query: string): Promise<void>;
  /**
   * Compiles and starts a projection that is stopped or faulted. It continues from its position.
   * @throws {EventStoreUnavailable}
   */
  enable(name: string): Promise<void>;
  /**
   * Stops a projection, which keeps its position and state.
   * @throws {EventStoreUnavailable}
   */
  disable(name: string): Promise<void>;
  /**
   * Removes a projection that is stopped or faulted, with its position and state.
   * @throws {EventStoreUnavailable}
   */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface ServerProjection {
  readonly name: string;
  /** `changing`: between two of the other states. */
  readonly state: "running" | "stopped" | "faulted" | "changing";
  /** How much of the log it has read, in percent; undefined while the server does not know it. */
  readonly progress?: number;
  /** The cause of a fault. */
  readonly reason?: string;
  /**
   * True for a fault that a busy server causes: it ends if the projection is enabled again later.
   */
  readonly mayRecover?: boolean;
}

export const isCaughtUp = ({ state, progress = 0 }: ServerProjection): boolean =>
  state === "running" && progress >= 100;

/** The outcome of the call is not known, or the server was busy with another one: repeat it. */
export class ProjectionServerBusy extends EventStoreUnavailable {}
