import type { ServerErrorResponse } from "@grpc/grpc-js";
import type { Faults } from "./faults.ts";
import { createProjectionFaults } from "./projection-faults.ts";
import { grpc } from "./protobuf.ts";

/** Ends an open call with OK or with an error. */
export interface OpenCall {
  end(): void;
  fail(error: Partial<ServerErrorResponse>): void;
}

export type FaultInjection = ReturnType<typeof createFaultInjection>;

/** The faults that a test has set, for the services to apply. */
export const createFaultInjection = (forgetIds: () => void, killConnections: () => void) => {
  const reads = new Set<OpenCall>();
  const subscriptions = new Set<OpenCall>();
  const batches = new Set<OpenCall>();
  const frozen: (() => void)[] = [];
  let frozenPrefix: string | undefined;
  let responsesToDrop = 0;
  let responsesToRepeat = 0;
  let refusal: number | undefined;
  let leader: { readonly host: string; readonly port: number } | undefined;
  let delayMs = 0;
  let withoutPositions = false;
  const projections = createProjectionFaults();
  let delivered = 0;

  const endAll = (calls: Set<OpenCall>, code?: number): void => {
    for (const call of calls) {
      if (code === undefined) call.end();
      else call.fail({ code, details: "ended on demand" });
    }
  };

  const faults: Faults = {
    freezeAppends: (prefix = "") => {
      frozenPrefix = prefix;
    },
    thawAppends: () => {
      frozenPrefix = undefined;
      for (const append of frozen.splice(0)) append();
    },
    loseResponses: (count) => {
      responsesToDrop += count;
    },
    repeatResponses: (count) => {
      responsesToRepeat += count;
    },
    refuse: (code) => {
      refusal = code;
    },
    accept: () => {
      refusal = undefined;
    },
    notLeaderOnce: (other) => {
      leader = other;
    },
    endBatchStreams: () => endAll(batches),
    breakBatchStreams: (code) => endAll(batches, code),
    dropSubscriptions: (code) => endAll(subscriptions, code),
    slowDown: (milliseconds) => {
      delayMs = milliseconds;
    },
    leavePositionsOut: () => {
      withoutPositions = true;
    },
    ...projections.faults,
    forgetIds,
    killConnections,
    get open() {
      return { reads: reads.size, subscriptions: subscriptions.size, batches: batches.size };
    },
    get frozen() {
      return frozen.length;
    },
    get delivered() {
      return delivered;
    },
    get stateBytesWritten() {
      return projections.stateBytesWritten;
    },
  };

  return {
    faults,
    reads,
    subscriptions,
    batches,
    /** The error with which to refuse this call, if any. */
    refusalOf: (needsLeader: boolean): Partial<ServerErrorResponse> | undefined => {
      if (refusal !== undefined) return { code: refusal, details: "refused on demand" };
      if (!needsLeader || leader === undefined) return undefined;
      const metadata = new grpc.Metadata();
      metadata.set("exception", "not-leader");
      metadata.set("leader-endpoint-host", leader.host);
      metadata.set("leader-endpoint-port", String(leader.port));
      leader = undefined;
      return { code: grpc.status.NOT_FOUND, details: "Leader info available", metadata };
    },
    /** Runs the append now, after the delay, or when appends are thawed. */
    whenAppendsContinue: (append: () => void, stream = ""): void => {
      if (frozenPrefix !== undefined && stream.startsWith(frozenPrefix)) frozen.push(append);
      else if (delayMs > 0) setTimeout(append, delayMs);
      else append();
    },
    /** True if this response must be dropped. */
    dropsResponse: (): boolean => {
      if (responsesToDrop === 0) return false;
      responsesToDrop -= 1;
      return true;
    },
    repeatsResponse: (): boolean => {
      if (responsesToRepeat === 0) return false;
      responsesToRepeat -= 1;
      return true;
    },
    projections,
    countDelivered: (): void => {
      delivered += 1;
    },
    includesPosition: (isRepeat: boolean): boolean => !(isRepeat && withoutPositions),
  };
};
