/** What can be made to go wrong, at once or from now on. */
export interface Faults {
  /**
   * Appends are taken in, and neither stored nor answered until `thawAppends`; then they are, all of them. Nor is the
   * question answered which calls this server knows.
   */
  freezeAppends(): void;
  thawAppends(): void;
  /** Stores the next appends, and answers none of them. */
  loseAnswers(count: number): void;
  /** Answers the next appends twice. */
  repeatAnswers(count: number): void;
  /** Every call is refused with this gRPC status, until `accept`. */
  refuse(code: number): void;
  accept(): void;
  /** The next call that needs the leader is sent to another node. */
  notLeaderOnce(leader: { readonly host: string; readonly port: number }): void;
  /** The open streams of appends end with OK; what they had asked for is not answered. */
  endBatchStreams(): void;
  /** The open streams of appends end with this gRPC status. */
  breakBatchStreams(code: number): void;
  /** The open subscriptions end: with OK, or with this gRPC status. */
  dropSubscriptions(code?: number): void;
  /** Every append takes so long. */
  slowDown(milliseconds: number): void;
  /** Repeated appends are answered without a position, as by older servers. */
  leavePositionsOut(): void;
  /** From now on others alone manage projections, and only they may. */
  denyProjections(): void;
  /** Forgets which ids it has seen. */
  forgetIds(): void;
  /** Cuts every connection, in the middle of whatever it carries. */
  killConnections(): void;
  /** Calls that are open now, by kind. */
  readonly open: { readonly reads: number; readonly subscriptions: number; readonly batches: number };
  /** What waits for `thawAppends`. */
  readonly frozen: number;
  /** Messages sent to subscriptions so far. */
  readonly delivered: number;
}
