import type { Faults } from "./faults.ts";

/** A server's defaults of ProjectionCompilationTimeout and ProjectionExecutionTimeout. */
const limits = { compile: 500, execute: 250 } as const;

/** What tests do to projections, for `projection-calls.ts` to apply. */
export const createProjectionFaults = () => {
  let isDenied = false;
  let slow: Parameters<Faults["slowProjections"]>[0] = {};
  let slowTimesLeft = 0;
  let eventsPerQuestion = Number.POSITIVE_INFINITY;
  let responsesToLose = 0;
  let stateBytesWritten = 0;

  const spend = (action: keyof typeof limits, took: number | undefined): void => {
    if (took === undefined || slowTimesLeft === 0) return;
    slowTimesLeft -= 1;
    if (took <= limits[action]) return;
    // The server's message lacks the last parenthesis (KurrentDB's JintProjectionStateHandler).
    throw new ScriptTimeout(
      `Projection script took too long to ${action} (took: ${duration(took)}, allowed: ${duration(limits[action])}`,
    );
  };

  const faults: Pick<
    Faults,
    "denyProjections" | "slowProjections" | "paceProjections" | "loseProjectionResponses"
  > = {
    denyProjections: () => {
      isDenied = true;
    },
    slowProjections: ({ times = Number.POSITIVE_INFINITY, ...given }) => {
      slow = given;
      slowTimesLeft = times;
    },
    paceProjections: (events) => {
      eventsPerQuestion = events;
    },
    loseProjectionResponses: (count) => {
      responsesToLose += count;
    },
  };

  return {
    faults,
    get isDenied() {
      return isDenied;
    },
    get eventsPerQuestion() {
      return eventsPerQuestion;
    },
    get stateBytesWritten() {
      return stateBytesWritten;
    },
    /** @throws {ScriptTimeout} */
    compile: (): void => spend("compile", slow.compileMs),
    /** @throws {ScriptTimeout} */
    handle: (): void => spend("execute", slow.handleMs),
    wrote: (state: string): void => {
      stateBytesWritten += Buffer.byteLength(state);
    },
    /** True if the call must end as if its deadline had passed. */
    losesResponse: (): boolean => {
      if (responsesToLose === 0) return false;
      responsesToLose -= 1;
      return true;
    },
  };
};

/** A script has used up its time. */
export class ScriptTimeout extends Error {
  override readonly name = "TimeoutException";
}

/** A time below a minute in the form `00:00:00.5031000`. */
const duration = (ms: number): string => `00:00:${(ms / 1_000).toFixed(7).padStart(10, "0")}`;
