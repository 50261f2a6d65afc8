/** What the main thread and its two workers say to each other. Everything here survives a structured clone. */
import type { ExpectedRevision, Retention } from "../event-store.ts";

/** For each kind of call, what is asked and what is answered. */
export type Protocol = Record<string, { readonly request: unknown; readonly answer: unknown }>;

export type WriterProtocol = {
  append: { request: AppendRequest; answer: AppendAnswer };
  retain: { request: RetainRequest; answer: undefined };
  /** Answered once a write transaction could be had: a full disk is no reason not to open. */
  ready: { request: undefined; answer: undefined };
  /** Answered once something was written. */
  probe: { request: undefined; answer: undefined };
};

export type ReaderProtocol = {
  stream: { request: StreamRequest; answer: StreamPage };
  log: { request: LogRequest; answer: LogPage };
  /** The position's event as JSON. */
  event: { request: number; answer: string | undefined };
  /** Answers the held request of this ticket with an empty page; is not answered itself. */
  forget: { request: number; answer: never };
  /** The log has grown: look again for those who wait. Is not answered. */
  wake: { request: undefined; answer: never };
  probe: { request: undefined; answer: undefined };
};

export interface AppendRequest {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly ids: readonly string[];
  /** Of each event the members `type`, `data` and `metadata` as JSON text, without the braces. */
  readonly bodies: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type AppendAnswer =
  | { readonly revision: number; readonly position: number }
  | { readonly conflictsWith: number };

export interface RetainRequest {
  readonly stream: string;
  readonly retention: Retention;
}

export interface StreamRequest {
  readonly stream: string;
  readonly backwards: boolean;
  readonly from: number;
  readonly limit: number;
}

export interface StreamPage {
  /** The events as one JSON array. */
  readonly json: string;
  readonly count: number;
  /** The revision to go on from. */
  readonly next: number;
  /** Whether the stream has nothing further this way. */
  readonly end: boolean;
}

export interface LogRequest {
  /** Names the asker, so that a held request can be forgotten. */
  readonly subscriptionId: number;
  readonly after: number;
  readonly prefixes: readonly string[];
  /** Hold the request until the log has grown past `after`. */
  readonly wait: boolean;
  /** How the page before this one was found; absent for the first. */
  readonly strategy?: ScanStrategy;
}

/** Along the log, leaving out the other streams' events, or by the index of the streams that are wanted. */
export type ScanStrategy = "log" | "index";

export interface LogPage {
  readonly json: string;
  readonly count: number;
  /** Everything up to here has been looked at. */
  readonly position: number;
  /** The log's newest position as of now. */
  readonly head: number;
  readonly strategy: ScanStrategy;
}

export type Call<P extends Protocol> = {
  [K in keyof P & string]: { readonly id: number; readonly kind: K; readonly request: P[K]["request"] };
}[keyof P & string];

export type Answer = { readonly id: number } & ({ readonly answer: unknown } | { readonly failure: Failure });

/** Main thread to worker: the calls that were made together; "close" comes last. */
export type Inbound<P extends Protocol> = readonly Call<P>[] | "close";
/** Worker to main thread; a refusal means that the worker could not open the database and ends. */
export type Outbound = { readonly answers: readonly Answer[] } | { readonly refused: Failure };

/** An error in transit: a clone of an Error would lose its codes. */
export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  /** SQLite's extended result code. */
  readonly errcode: number | undefined;
}

export const toFailure = (error: unknown): Failure => {
  const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
  return { message: message ?? String(error), code, errcode };
};

export const toError = ({ message, code, errcode }: Failure): Error =>
  Object.assign(new Error(message), { code, errcode });
