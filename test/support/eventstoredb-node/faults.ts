/** The faults that tests can cause. */
export interface Faults {
  /**
   * Neither stores nor acknowledges appends until `thawAppends`, which processes them all. Does not
   * respond to `GetSupportedMethods` either. With a prefix it freezes only appends to streams whose
   * names begin with it.
   */
  freezeAppends(prefix?: string): void;
  thawAppends(): void;
  /** Stores the next appends without a response. */
  loseResponses(count: number): void;
  /** Responds to the next appends twice. */
  repeatResponses(count: number): void;
  /** Refuses every call with this gRPC status until `accept`. */
  refuse(code: number): void;
  accept(): void;
  /** Redirects the next call that requires the leader to another node. */
  notLeaderOnce(leader: { readonly host: string; readonly port: number }): void;
  /** Ends the open streams of appends with OK, without responses. */
  endBatchStreams(): void;
  /** Ends the open streams of appends with this gRPC status. */
  breakBatchStreams(code: number): void;
  /** Ends the open subscriptions with OK, or with this gRPC status. */
  dropSubscriptions(code?: number): void;
  /** Delays every append. */
  slowDown(milliseconds: number): void;
  /** Responds to repeated appends without a position, like older servers. */
  leavePositionsOut(): void;
  /** Denies the client's user the management of projections. */
  denyProjections(): void;
  /** Forgets the known event ids. */
  forgetIds(): void;
  /** Destroys every connection. */
  killConnections(): void;
  /** The open calls by kind. */
  readonly open: { readonly reads: number; readonly subscriptions: number; readonly batches: number };
  /** The number of appends that wait for `thawAppends`. */
  readonly frozen: number;
  /** The number of events sent to subscriptions. */
  readonly delivered: number;
}
