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
  /** Commit and prepare position are the same, as they are for every append over gRPC. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

export type Expected = "any" | "none" | "exists" | number;

export type Answer =
  | { readonly is: "appended" | "repeated"; readonly revision: number; readonly position: number }
  | { readonly is: "conflict"; readonly actual: number }
  /** A repeat of what is stored but not indexed yet: `deadline-exceeded`. */
  | { readonly is: "unknown" }
  | { readonly is: "deleted" };

/** What one append may weigh, as a server has it by default. */
export const maxAppendBytes = 1024 * 1024;
