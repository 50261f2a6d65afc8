import { untilAborted } from "../../async/deadline.ts";
import type { ReservedSlot } from "../../async/scheduler/reserved-slot.ts";
import type { Resource } from "../../async/scheduler/resource.ts";
import { createWaiter, type Waiter } from "../../async/scheduler/waiter.ts";
import { systemTime } from "../../async/time.ts";
import type { HostProcess } from "../host-process.ts";
import { startJobDeadline } from "../job-deadline.ts";
import type { Limits, PieceSpec, SpeechReport, SpeechSpec, TextRequest, TextResponse } from "../protocol.ts";
import type { RemoteJob, TextListener } from "../remote-job.ts";
import { type HostContext, isShort, type SlotOptions } from "../run-in-slot.ts";
import { ToolFailed } from "../tools.ts";
import type { PieceJob, PieceUse, SpeechJob, SpeechPiece } from "./speech-job.ts";

export interface Speaking {
  readonly speechJob: SpeechJob;
  /** The request to the helper for a piece. */
  readonly specOf: (job: PieceJob) => Omit<PieceSpec, "shape">;
  readonly slotsOf: (job: PieceJob) => Resource;
  /** The limits of the encoder. */
  readonly limits: Limits;
  readonly encoderSlots: Resource;
}

export interface SpeechOptions extends Pick<SlotOptions, "waiter" | "beforeStart"> {
  /** The slot that was reserved for the encoder. */
  readonly slot?: ReservedSlot | undefined;
  /** Called when the first samples exist, before the encoder has its slot. */
  readonly onEncoding?: ((sampleRate: number) => void) | undefined;
}

/**
 * Speaks and encodes a text in the helper, where its samples stay. The helper asks for a slot for
 * each piece but the first, which has one before the text is sent.
 * @throws {ToolFailed} {Unavailable}, what `beforeStart` throws, or the signal's reason
 */
export async function* runSpeech(
  context: HostContext,
  speaking: Speaking,
  wanted: AbortSignal,
  { waiter = createWaiter(), beforeStart, slot, onEncoding = () => {} }: SpeechOptions,
): AsyncGenerator<Buffer, SpeechReport> {
  const over = new AbortController();
  const signal = AbortSignal.any([wanted, context.closing]);
  const waiting = AbortSignal.any([signal, over.signal]);
  const text = new RunningText(context, speaking, {
    ...{ waiter, beforeStart, slot, onEncoding },
    ...{ signal, waiting },
  });
  let job: RemoteJob;
  try {
    job = await text.start();
  } catch (error) {
    text.end();
    throw error;
  }
  void job.settled.then(() => {
    over.abort(ended);
    text.end();
  });
  try {
    yield* job.output;
  } catch (error) {
    throw error instanceof ToolFailed && error.reason === "refused" ? (text.refusal ?? error) : error;
  }
  const { speech } = job.reported();
  if (!speech) throw new ToolFailed("exit", "The text has no report.");
  return speech;
}

const ended = new Error("The text has ended.");

/** A piece that has its slot. */
interface RunningPiece {
  readonly release: () => void;
  readonly use: PieceUse | undefined;
  stopDeadline: () => void;
}

interface RunningTextOptions extends Required<Pick<SpeechOptions, "beforeStart" | "slot">> {
  readonly onEncoding: (sampleRate: number) => void;
  readonly waiter: Waiter;
  readonly signal: AbortSignal;
  /** This signal ends waits for a slot. It is aborted at the end of the text, too. */
  readonly waiting: AbortSignal;
}

class RunningText implements TextListener {
  /** The error for which the last request of the helper was refused. */
  refusal: unknown;
  readonly #context: HostContext;
  readonly #speaking: Speaking;
  readonly #options: RunningTextOptions;
  readonly #pieces: SpeechPiece[];
  readonly #running = new Map<number, RunningPiece>();
  #releaseEncoder: (() => void) | undefined;
  #stopWatch = (): void => undefined;
  #kill = (): void => undefined;

  constructor(context: HostContext, speaking: Speaking, options: RunningTextOptions) {
    this.#context = context;
    this.#speaking = speaking;
    this.#options = options;
    this.#pieces = [...speaking.speechJob.pieces];
    this.#releaseEncoder = options.slot?.take();
  }

  /** Resolves when the first piece has its slot, and the helper has the text. */
  async start(): Promise<RemoteJob> {
    const { speechJob, limits } = this.#speaking;
    const { signal } = this.#options;
    await this.#begin(0, false);
    const host = await untilAborted(this.#context.helper.current(), signal);
    this.#kill = () => host.kill();
    this.#stopWatch = watchHelper(host, this.#context);
    const spec: SpeechSpec = {
      ...{ type: "speech", ...limits, format: speechJob.format, progressive: speechJob.progressive },
      pieces: this.#specs(speechJob.pieces),
      lowPriority: !isShort(this.#options.waiter),
      hasEncoder: this.#releaseEncoder !== undefined,
    };
    const job = host.start(spec, undefined, signal, this);
    this.#watch(0);
    return job;
  }

  async provide(request: TextRequest): Promise<Omit<TextResponse, "number">> {
    try {
      if (request.need === "parts") {
        const crash = new ToolFailed("exit", request.failure.message, request.failure);
        const parts = await this.#speaking.speechJob.divide(request.piece, crash);
        this.#pieces.push(...parts);
        return { parts: this.#specs(parts) };
      }
      if (request.need === "slot") {
        await this.#begin(request.piece, request.isContinuation);
        this.#watch(request.piece);
      } else {
        // The tool is running, and its work would be wasted if the encoder were refused a slot now.
        // The encoder is one job for the whole text, not a job for a piece of it.
        const options = { isContinuation: true, isFirstPiece: true };
        const { waiter, waiting } = this.#options;
        this.#releaseEncoder = await this.#speaking.encoderSlots.acquire(waiter, waiting, options);
        if (waiting.aborted) this.#releaseEncoder(); // the text has ended meanwhile
      }
      return {};
    } catch (error) {
      if (!this.#options.waiting.aborted) this.refusal = error;
      return { isRefused: true };
    }
  }

  onEncoding(sampleRate: number): void {
    this.#options.onEncoding(sampleRate);
  }

  onSpoken({ piece, failure }: Parameters<TextListener["onSpoken"]>[0]): void {
    const running = this.#running.get(piece);
    this.#running.delete(piece);
    running?.stopDeadline();
    running?.release();
    if (failure) running?.use?.failed(new ToolFailed(failure.reason, failure.message, failure));
    else running?.use?.succeeded();
  }

  /** Releases the slots that the text still holds. */
  end(): void {
    for (const { stopDeadline, release, use } of this.#running.values()) {
      stopDeadline();
      release();
      use?.ignored();
    }
    this.#running.clear();
    this.#stopWatch();
    this.#releaseEncoder?.();
  }

  #specs(pieces: readonly SpeechPiece[]): PieceSpec[] {
    return pieces.map(({ job, shape }) => ({ ...this.#speaking.specOf(job), shape }));
  }

  /** Resolves when the piece has its slot. */
  async #begin(number: number, isContinuation: boolean): Promise<void> {
    const { waiter, beforeStart, waiting } = this.#options;
    const { job, seconds, start } = this.#piece(number);
    const release = await this.#speaking.slotsOf(job).acquire(waiter, waiting, { isContinuation, seconds });
    let use: PieceUse | undefined;
    try {
      use = start?.();
      if (!isContinuation) await beforeStart?.();
      waiting.throwIfAborted();
      this.#running.set(number, { release, use, stopDeadline: () => undefined });
    } catch (error) {
      use?.ignored();
      release();
      throw error;
    }
  }

  /**
   * Starts the deadline of a piece. The helper enforces deadlines itself, but not while it is
   * frozen.
   */
  #watch(number: number): void {
    const running = this.#running.get(number);
    if (!running) return;
    const { job } = this.#speaking.specOf(this.#piece(number).job);
    running.stopDeadline = startJobDeadline(job, this.#kill, this.#context).stop;
  }

  #piece(number: number): SpeechPiece {
    const piece = this.#pieces[number];
    if (!piece) throw new RangeError(`There is no piece ${number}.`);
    return piece;
  }
}

/** A helper that does not respond for this long is frozen. */
const frozenMs = 30_000;

/**
 * Kills a frozen helper, even while no piece is spoken. Deadlines are not enough for this: a client
 * that does not read holds a text for longer than any deadline that is known here. Returns a
 * function that ends the watch.
 */
const watchHelper = (
  host: Pick<HostProcess, "ping" | "kill">,
  { time = systemTime }: HostContext,
): (() => void) => {
  let hasResponded = true;
  const check = (): void => {
    if (!hasResponded) {
      host.kill();
      return;
    }
    hasResponded = false;
    void host.ping().then(
      () => {
        hasResponded = true;
      },
      () => undefined, // it has ended
    );
    stop = time.after(frozenMs, check);
  };
  let stop = time.after(frozenMs, check);
  return () => stop();
};
