import type { Time } from "../../async/time.ts";
import { startJobDeadline } from "../job-deadline.ts";
import type { JobSpec } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import type { ToolProcess } from "./exit-failure.ts";

type LimitedSpec = Pick<JobSpec, "type" | "deadlineMs" | "maxOutputBytes"> & { readonly sampleRate?: number };

interface LimitedProcessOptions {
  readonly time?: Time | undefined;
  /** Called when the process is stopped. */
  readonly onStop?: (failure: ToolFailed) => void;
}

/** Keeps the process of a tool within its deadline and its output limit. */
export class LimitedProcess {
  readonly #name: string;
  readonly #toolProcess: ToolProcess;
  readonly #maxOutputBytes: number;
  readonly #onStop: ((failure: ToolFailed) => void) | undefined;
  readonly #deadline: ReturnType<typeof startJobDeadline> | undefined;
  #stopped: ToolFailed | undefined;
  #hasEnded = false;

  /** `name`: the name of the tool in messages. */
  constructor(
    name: string,
    toolProcess: ToolProcess,
    spec: LimitedSpec,
    options: LimitedProcessOptions = {},
  ) {
    this.#name = name;
    this.#toolProcess = toolProcess;
    const isText = spec.type === "speech"; // its encoder and its tools have limits of their own
    this.#maxOutputBytes = isText ? Number.POSITIVE_INFINITY : spec.maxOutputBytes;
    this.#onStop = options.onStop;
    // A process that exits early closes its input; its exit reports the cause.
    toolProcess.input.on("error", () => undefined);
    if (!isText) this.#deadline = startJobDeadline(spec, (ms) => this.stop(tooLate(name, ms)), options);
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Extends the deadline of an encoder by its input. */
  extend(input: Buffer): void {
    this.#deadline?.extend(input);
  }

  /** Kills the process. The output throws this failure when the process has exited. */
  stop(failure: ToolFailed): void {
    if (this.#hasEnded) return; // its process may work for another job by now
    this.#stopped ??= failure;
    this.#toolProcess.kill();
    this.#onStop?.(this.#stopped);
  }

  /**
   * Yields the output, and ends or throws when the process has exited. A reader that leaves early
   * kills the process.
   * @throws {ToolFailed}
   */
  async *output(): AsyncGenerator<Buffer, void> {
    const chunks = this.#toolProcess.output[Symbol.asyncIterator]();
    let size = 0;
    const next = async (): Promise<Buffer | undefined> => {
      const { value, done } = await chunks.next();
      this.#hasEnded = done === true;
      return done ? undefined : value;
    };
    try {
      for (let chunk = await next(); chunk; chunk = await next()) {
        size += chunk.length;
        if (size > this.#maxOutputBytes)
          this.stop(new ToolFailed("flood", `${this.#name} exceeded the output limit.`));
        // After a stop, the output is dropped until the process has exited.
        if (!this.#stopped) yield chunk;
      }
      if (this.#stopped) throw this.#stopped;
      if (size === 0) throw new ToolFailed("silent", `${this.#name} produced no output.`);
    } catch (error) {
      this.#hasEnded = true;
      throw this.#stopped ?? asToolFailed(this.#name, error);
    } finally {
      this.#deadline?.stop();
      if (!this.#hasEnded) {
        this.#hasEnded = true;
        this.#toolProcess.kill();
        const isMore = () => next().then((chunk) => chunk !== undefined);
        while (await isMore().catch(() => false));
      }
    }
  }
}

const tooLate = (name: string, ms: number): ToolFailed =>
  new ToolFailed("deadline", `${name} did not finish within ${Number((ms / 1000).toFixed(1))} s.`);

export const asToolFailed = (name: string, error: unknown): ToolFailed =>
  error instanceof ToolFailed ? error : new ToolFailed("exit", `${name} failed.`);
