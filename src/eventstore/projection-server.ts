/** A log's server that runs projections by itself: what of it an operator's command needs. */
export interface ProjectionServer {
  /**
   * The projection of that name, or undefined. Asked for by name: while any projection on the server has a syntax error, a
   * list of all of them cannot be had.
   * @throws {EventStoreUnavailable}
   */
  find(name: string): Promise<ServerProjection | undefined>;
  /** Begins at the log's beginning. @throws {EventStoreUnavailable} */
  create(name: string, query: string): Promise<void>;
  /** Another script for what there is, which goes on from where it was. @throws {EventStoreUnavailable} */
  update(name: string, query: string): Promise<void>;
  /** @throws {EventStoreUnavailable} */
  enable(name: string): Promise<void>;
  /** It stays where it is, with all that it holds. @throws {EventStoreUnavailable} */
  disable(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface ServerProjection {
  readonly name: string;
  /** In passing: the server is at something with it. */
  readonly state: "running" | "stopped" | "faulted" | "passing";
  /** Why it is faulted, in the server's words. */
  readonly reason?: string;
}
