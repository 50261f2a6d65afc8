import { Unavailable } from "../domain/errors.ts";
import { untilAborted } from "../until-aborted.ts";
import { keepHostProcess } from "./keep-host-process.ts";
import type { EncoderOrder, Limits, Order, ToolOrder } from "./protocol.ts";
import { createSlots, type Slots } from "./slots.ts";
import type { ToolVersions } from "./tools.ts";

export type ToolJob = Omit<ToolOrder, "type" | keyof Limits> & Partial<Limits> & { readonly input: string };
export type EncoderJob = Omit<EncoderOrder, "type" | keyof Limits> &
  Partial<Limits> & { readonly input: AsyncIterable<Buffer> };

/**
 * Runs the local tools, all of them from one helper process. Both verbs give bytes as they come, never end well
 * without any, and hold a slot from the first read until the tool's process is gone. Read what they give to its end, or
 * abort: an abort kills the tool at once, and the reading throws the signal's reason.
 * @throws {ToolFailed} the tool failed, or the helper process died (the next job has a new one)
 * @throws {Unavailable} the queue is full, or the host is closed
 */
export interface SubprocessHost {
  /** Of the tools that were found when it was opened. */
  readonly versions: ToolVersions;
  run(job: ToolJob, signal: AbortSignal): AsyncIterable<Buffer>;
  encode(job: EncoderJob, signal: AbortSignal): AsyncIterable<Buffer>;
  stats(): HostStats;
  /** Ends everything: what is in flight fails with {Unavailable}. */
  close(): Promise<void>;
}

export interface HostStats {
  readonly running: number;
  readonly queued: number;
  /** How often the helper process was started again. */
  readonly restarts: number;
  /** The helper's process id; undefined while there is none. */
  readonly pid: number | undefined;
}

export interface SubprocessHostOptions {
  /** Speech tools at once; as many encoders besides. Default 4. */
  readonly atOnce?: number;
  /** So many more may wait, for each of the two. Default 100. */
  readonly queueLimit?: number;
  /** Encoders kept waiting. Default 3 for mp3, 1 for ogg. */
  readonly encodersAhead?: { readonly mp3: number; readonly ogg: number };
  /** Where the tools are looked for, as in PATH. Default: the usual places. */
  readonly path?: string;
}

const defaults: Limits = { deadlineMs: 30_000, maxOutputBytes: 64 * 1024 * 1024 };

/** @throws {ToolFailed} when the helper process does not start */
export const openSubprocessHost = async (options: SubprocessHostOptions = {}): Promise<SubprocessHost> => {
  const { atOnce = 4, queueLimit = 100, encodersAhead = { mp3: 3, ogg: 1 } } = options;
  const { path = "/usr/local/bin:/usr/bin:/bin" } = options;
  const helper = keepHostProcess({ path, encodersAhead });
  const { versions } = await helper.current();
  const tools = createSlots(atOnce, queueLimit);
  const encoders = createSlots(atOnce, queueLimit);
  const closing = new AbortController();

  /** The slot is given back when the process is gone, not when its reader is. */
  async function* work(slots: Slots, order: Order, input: AsyncIterable<Buffer>, wanted: AbortSignal) {
    const signal = AbortSignal.any([wanted, closing.signal]);
    const release = await slots.acquire(signal);
    let settled = Promise.resolve();
    try {
      const host = await untilAborted(helper.current(), signal);
      const job = host.start(order, input, signal);
      settled = job.settled;
      yield* job.output;
    } finally {
      void settled.then(release);
    }
  }

  return {
    versions,
    run: ({ input, ...job }, signal) =>
      work(tools, { ...defaults, ...job, type: "tool" }, once(input), signal),
    encode: ({ input, ...job }, signal) =>
      work(encoders, { ...defaults, ...job, type: "encoder" }, input, signal),
    stats: () => ({
      running: tools.running() + encoders.running(),
      queued: tools.queued() + encoders.queued(),
      ...helper.stats(),
    }),
    close: () => {
      closing.abort(new Unavailable("The service is shutting down.", 1));
      return helper.close();
    },
  };
};

async function* once(text: string): AsyncIterable<Buffer> {
  yield Buffer.from(text);
}
