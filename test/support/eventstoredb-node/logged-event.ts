export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface LoggedEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: number;
  /** Commit and prepare position, which are equal for every append over gRPC. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

export type Expected = "any" | "none" | "exists" | number;

export type AppendOutcome =
  | { readonly is: "appended" | "repeated"; readonly revision: number; readonly position: number }
  | { readonly is: "conflict"; readonly actual: number }
  /** A repeat of an append that is stored but not indexed: `deadline-exceeded`. */
  | { readonly is: "unknown" }
  | { readonly is: "deleted" };

/** The server's default limit for one append. */
export const maxAppendBytes = 1024 * 1024;
