import type { ServerErrorResponse } from "@grpc/grpc-js";
import type { Faults } from "./faults.ts";
import { grpc } from "./protobuf.ts";

/** How an open call can be ended from outside: with OK, or with an error. */
export interface OpenCall {
  end(): void;
  fail(error: Partial<ServerErrorResponse>): void;
}

export type FaultInjection = ReturnType<typeof createFaultInjection>;

/** Where the services ask what is to go wrong, and where tests set it. */
export const createFaultInjection = (forgetIds: () => void, killConnections: () => void) => {
  const reads = new Set<OpenCall>();
  const subscriptions = new Set<OpenCall>();
  const batches = new Set<OpenCall>();
  const frozen: (() => void)[] = [];
  let freezing = false;
  let answersToLose = 0;
  let answersToRepeat = 0;
  let refusal: number | undefined;
  let leader: { readonly host: string; readonly port: number } | undefined;
  let delayMs = 0;
  let withoutPositions = false;
  let projectionsDenied = false;
  let told = 0;

  const endAll = (calls: Set<OpenCall>, code?: number): void => {
    for (const call of calls) {
      if (code === undefined) call.end();
      else call.fail({ code, details: "ended on demand" });
    }
  };

  const faults: Faults = {
    freezeAppends: () => {
      freezing = true;
    },
    thawAppends: () => {
      freezing = false;
      for (const append of frozen.splice(0)) append();
    },
    loseAnswers: (count) => {
      answersToLose += count;
    },
    repeatAnswers: (count) => {
      answersToRepeat += count;
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
    denyProjections: () => {
      projectionsDenied = true;
    },
    forgetIds,
    killConnections,
    get open() {
      return { reads: reads.size, subscriptions: subscriptions.size, batches: batches.size };
    },
    get frozen() {
      return frozen.length;
    },
    get delivered() {
      return told;
    },
  };

  return {
    faults,
    reads,
    subscriptions,
    batches,
    /** Why this call is refused, if it is. */
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
    /** Does this now, late, or when appends are thawed. */
    whenAppendsMove: (append: () => void): void => {
      if (freezing) frozen.push(append);
      else if (delayMs > 0) setTimeout(append, delayMs);
      else append();
    },
    /** Whether this answer is to be lost. */
    losesAnswer: (): boolean => {
      if (answersToLose === 0) return false;
      answersToLose -= 1;
      return true;
    },
    repeatsAnswer: (): boolean => {
      if (answersToRepeat === 0) return false;
      answersToRepeat -= 1;
      return true;
    },
    deniesProjections: (): boolean => projectionsDenied,
    noteTold: (): void => {
      told += 1;
    },
    tellsPositionOf: (isRepeat: boolean): boolean => !(isRepeat && withoutPositions),
  };
};
