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
  /**
   * A busy machine: the next compilations of scripts take `compileMs` of the server's clock, the
   * next handled events `handleMs`. `times`: how many of them, default all until the next call.
   */
  slowProjections(slow: {
    readonly compileMs?: number;
    readonly handleMs?: number;
    readonly times?: number;
  }): void;
  /** Each question for a projection's state lets the projection handle this many events. */
  paceProjections(eventsPerQuestion: number): void;
  /** Makes the next changes of projections, and ends the calls as if their deadline had passed. */
  loseProjectionResponses(count: number): void;
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
  /** The bytes of states that projections have written: a whole partition for each event. */
  readonly stateBytesWritten: number;
}
