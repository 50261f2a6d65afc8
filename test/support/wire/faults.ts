import type { Gate } from "./gate.ts";

/** An answer as it goes over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What an upstream may do instead of answering well. */
export type Fault =
  /** Nothing is answered before the gate opens. */
  | { readonly kind: "slow"; readonly gate: Gate }
  /** The head is answered at once, each chunk of the body when the gate lets it through. */
  | { readonly kind: "trickle"; readonly gate: Gate }
  /** So many bytes of the body, then the connection is destroyed. Default: half of it. */
  | { readonly kind: "cut"; readonly afterBytes?: number }
  /** The connection is destroyed when the request has been read. */
  | { readonly kind: "cut before the answer" }
  /** Never answered. */
  | { readonly kind: "hang" }
  /** 200 in the provider's own shape, with no sound in it. */
  | { readonly kind: "empty" }
  /** An error as the provider words it. */
  | {
      readonly kind: "refusal";
      readonly status: number;
      readonly message?: string;
      readonly retryAfter?: string;
    }
  /** 200 with HTML, as the page of a proxy that stands in between. */
  | { readonly kind: "html" }
  /** 200 in the provider's own shape, with noise where its content should be. */
  | { readonly kind: "malformed" }
  /** Whatever the test says. */
  | { readonly kind: "answer"; readonly answer: WireAnswer };

/** Which requests meet which fault: those that were asked for next, in order, then what holds until it is changed. */
export interface Faults {
  next(...faults: readonly Fault[]): void;
  always(fault: Fault): void;
  none(): void;
}

export const plannedFaults = (): Faults & { take(): Fault | undefined } => {
  const planned: Fault[] = [];
  let lasting: Fault | undefined;
  return {
    next: (...faults) => void planned.push(...faults),
    always: (fault) => {
      lasting = fault;
    },
    none: () => {
      planned.length = 0;
      lasting = undefined;
    },
    take: () => planned.shift() ?? lasting,
  };
};

export const htmlAnswer: WireAnswer = {
  status: 200,
  headers: { "Content-Type": "text/html; charset=utf-8" },
  body: Buffer.from("<!doctype html><html><body><h1>Sign in to the network</h1></body></html>"),
};
