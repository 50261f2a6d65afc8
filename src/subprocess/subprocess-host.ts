import { Unavailable } from "../domain/errors.ts";
import { untilAborted } from "../until-aborted.ts";
import { keepHostProcess } from "./keep-host-process.ts";
import type { EncoderOrder, Limits, Order, ToolOrder } from "./protocol.ts";
import { createSlots, type Slots } from "./slots.ts";
import { ToolFailed, type ToolVersions } from "./tools.ts";

export type ToolJob = Omit<ToolOrder, "type" | keyof Limits> & Partial<Limits> & { readonly input: string };
export type EncoderJob = Omit<EncoderOrder, "type" | keyof Limits> &
  Partial<Limits> & { readonly input: AsyncIterable<Buffer> };

/** Called when the job has its slot, before its tool is started; what it throws is what the reading throws. */
export type OnTurn = () => Promise<void>;

/**
 * Runs the local tools, all of them from one helper process. Both verbs give bytes as they come, never end well
 * without any, and hold a slot from the first read until the tool's process is gone; a job's time begins with its slot. Read what they give to its end, or
 * abort: an abort kills the tool at once, and the reading throws the signal's reason.
 * @throws {ToolFailed} the tool failed, or the helper process died (the next job has a new one)
 * @throws {Unavailable} the queue is full, the turn does not come in time, or the host is closed
 */
export interface SubprocessHost {
  /** Of the tools that were found when it was opened. */
  readonly versions: ToolVersions;
  run(job: ToolJob, signal: AbortSignal, onTurn?: OnTurn): AsyncIterable<Buffer>;
  encode(job: EncoderJob, signal: AbortSignal): AsyncIterable<Buffer>;
  /** Answers when the helper process can be worked with. @throws {ToolFailed} it does not answer {Unavailable} */
  ping(): Promise<void>;
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
  /** So long one waits for a slot. Default 10 s. */
  readonly queueMs?: number;
  /** So long after a job's deadline the helper must have ended it, or is ended itself. Default 5 s. */
  readonly graceMs?: number;
  /** Told in a sentence that the helper process has ended by itself. */
  readonly warn?: (sentence: string) => void;
  /** Encoders kept waiting. Default 3 for mp3, 1 for ogg. */
  readonly encodersAhead?: { readonly mp3: number; readonly ogg: number };
  /** Where the tools are looked for, as in PATH. Default: the usual places. */
  readonly path?: string;
}

/** Shorter than whoever asks for the service's health is ready to wait. */
const pingMs = 1500;

const deathNote = "The process that runs the speech tools has ended: the next use starts another.";

const defaults: Limits = { deadlineMs: 30_000, maxOutputBytes: 64 * 1024 * 1024 };

/** @throws {ToolFailed} when the helper process does not start */
export const openSubprocessHost = async (options: SubprocessHostOptions = {}): Promise<SubprocessHost> => {
  const { atOnce = 4, queueLimit = 100, encodersAhead = { mp3: 3, ogg: 1 } } = options;
  const { path = "/usr/local/bin:/usr/bin:/bin", queueMs = 10_000, graceMs = 5000, warn } = options;
  const helper = keepHostProcess({ path, encodersAhead }, () => warn?.(deathNote));
  const { versions } = await helper.current();
  const tools = createSlots({ atOnce, queueLimit, queueMs });
  const encoders = createSlots({ atOnce, queueLimit, queueMs });
  const closing = new AbortController();

  /** The slot is given back when the process is gone, not when its reader is. */
  async function* work(
    slots: Slots,
    order: Order,
    input: AsyncIterable<Buffer>,
    wanted: AbortSignal,
    onTurn?: OnTurn,
  ) {
    const signal = AbortSignal.any([wanted, closing.signal]);
    const release = await slots.acquire(signal);
    let settled = Promise.resolve();
    try {
      await onTurn?.();
      const host = await untilAborted(helper.current(), signal);
      const job = host.start(order, input, signal);
      // It keeps the deadlines itself; one that stands still keeps none, and would keep its jobs for ever.
      const overdue = setTimeout(host.kill, order.deadlineMs + graceMs);
      settled = job.settled.finally(() => clearTimeout(overdue));
      yield* job.output;
    } finally {
      void settled.then(release);
    }
  }

  return {
    versions,
    run: ({ input, ...job }, signal, onTurn) =>
      work(tools, { ...defaults, ...job, type: "tool" }, once(input), signal, onTurn),
    encode: ({ input, ...job }, signal) =>
      work(encoders, { ...defaults, ...job, type: "encoder" }, input, signal),
    ping: async () => {
      const signal = AbortSignal.timeout(pingMs);
      const ask = async () => (await helper.current()).ping();
      await untilAborted(ask(), signal).catch((error: unknown) => {
        throw signal.aborted ? new ToolFailed("helper", "The speech tools do not answer.") : error;
      });
    },
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
