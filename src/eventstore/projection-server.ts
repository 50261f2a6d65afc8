/** The port to a server that runs projections itself: what `voxledger projections` needs of it. */
export interface ProjectionServer {
  /**
   * The projection of this name, or undefined. There is no list: a server cannot list its
   * projections while one of them has a syntax error.
   * @throws {EventStoreUnavailable}
   */
  find(name: string): Promise<ServerProjection | undefined>;
  /**
   * Creates a projection that starts at the log's beginning.
   * @throws {EventStoreUnavailable}
   */
  create(name: string, query: string): Promise<void>;
  /**
   * Replaces a projection's script. It continues from its position.
   * @throws {EventStoreUnavailable}
   */
  update(name: string, query: string): Promise<void>;
  /** @throws {EventStoreUnavailable} */
  enable(name: string): Promise<void>;
  /**
   * Stops a projection, which keeps its position and state.
   * @throws {EventStoreUnavailable}
   */
  disable(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface ServerProjection {
  readonly name: string;
  /** `changing`: between two of the other states. */
  readonly state: "running" | "stopped" | "faulted" | "changing";
  /** The server's message about a fault. */
  readonly reason?: string;
}
