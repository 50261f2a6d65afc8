import type { Gate } from "./gate.ts";

/** A raw response. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Faults of a provider. */
export type Fault =
  /** No response before the gate opens. */
  | { readonly kind: "slow"; readonly gate: Gate }
  /** Sends the head at once, and each chunk of the body when the gate opens for it. */
  | { readonly kind: "trickle"; readonly gate: Gate }
  /** Destroys the connection after this many bytes of the body. Default: half of it. */
  | { readonly kind: "cut"; readonly afterBytes?: number }
  /** Destroys the connection when the request has been read. */
  | { readonly kind: "cut before the answer" }
  /** Never responds. */
  | { readonly kind: "hang" }
  /** 200 in the provider's own format, without audio. */
  | { readonly kind: "empty" }
  /** An error in the provider's own format. */
  | {
      readonly kind: "refusal";
      readonly status: number;
      readonly message?: string;
      readonly retryAfter?: string;
    }
  /** 200 with HTML, like the page of a proxy in between. */
  | { readonly kind: "html" }
  /** 200 in the provider's own format, with random bytes as content. */
  | { readonly kind: "malformed" }
  /** A response that the test defines. */
  | { readonly kind: "answer"; readonly response: WireResponse };

/** The fault of each request: the planned faults first, in order, then the lasting one. */
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

export const htmlResponse: WireResponse = {
  status: 200,
  headers: { "Content-Type": "text/html; charset=utf-8" },
  body: Buffer.from("<!doctype html><html><body><h1>Sign in to the network</h1></body></html>"),
};
