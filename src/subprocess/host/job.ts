import type { Time } from "../../async/time.ts";
import { startJobDeadline } from "../job-deadline.ts";
import type { JobSpec, Response } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { createWindow, inParts } from "../window.ts";
import type { ToolProcess } from "./exit-failure.ts";

/** The helper's side of a job. */
export class Job {
  /** Resolves when `done` or `failed` has been sent. */
  readonly finished: Promise<void>;
  readonly #id: number;
  readonly #name: string;
  readonly #work: ToolProcess;
  readonly #send: (response: Response) => void;
  readonly #window = createWindow();
  readonly #deadline: ReturnType<typeof startJobDeadline>;
  #stopped: ToolFailed | undefined;

  constructor(
    id: number,
    name: string,
    work: ToolProcess,
    order: JobSpec,
    send: (response: Response) => void,
    time?: Time,
  ) {
    this.#id = id;
    this.#name = name;
    this.#work = work;
    this.#send = send;
    // A process that exits early closes its input; its exit reports the cause.
    work.input.on("error", () => undefined);
    this.#deadline = startJobDeadline(order, (ms) => this.stop(tooLate(name, ms)), { time });
    this.finished = this.#outcome(order.maxOutputBytes).finally(this.#deadline.stop).then(send);
  }

  input(bytes: Buffer): void {
    this.#deadline.extend(bytes);
    this.#work.input.write(bytes, () => this.#send({ type: "written", job: this.#id, bytes: bytes.length }));
  }

  end(): void {
    this.#work.input.end();
  }

  taken(bytes: number): void {
    this.#window.acknowledged(bytes);
  }

  /** Kills the process; `failed` is sent when it has exited. */
  stop(failure: ToolFailed): void {
    this.#stopped ??= failure;
    this.#work.kill();
    this.#window.open();
  }

  async #outcome(maxOutputBytes: number): Promise<Response> {
    const job = this.#id;
    try {
      const size = await this.#passOn(maxOutputBytes);
      if (this.#stopped) throw this.#stopped;
      if (size === 0) throw new ToolFailed("silent", `${this.#name} produced no output.`);
      const spoken = this.#work.spoken?.();
      return { type: "done", job, ...(spoken && { events: spoken.events, cpuMs: spoken.cpuMs }) };
    } catch (error) {
      const { reason, message } = this.#stopped ?? asToolFailed(this.#name, error);
      return { type: "failed", job, reason, message };
    }
  }

  /** After a stop the output is discarded until the process has exited. */
  async #passOn(maxOutputBytes: number): Promise<number> {
    let size = 0;
    for await (const chunk of this.#work.output) {
      size += chunk.length;
      if (size > maxOutputBytes)
        this.stop(new ToolFailed("flood", `${this.#name} exceeded the output limit.`));
      for (const bytes of inParts(chunk)) {
        await this.#window.ready();
        if (this.#stopped) break;
        this.#window.sent(bytes.length);
        this.#send({ type: "output", job: this.#id, bytes });
      }
    }
    return size;
  }
}

const tooLate = (name: string, ms: number): ToolFailed =>
  new ToolFailed("deadline", `${name} did not finish within ${Number((ms / 1000).toFixed(1))} s.`);

const asToolFailed = (name: string, error: unknown): ToolFailed =>
  error instanceof ToolFailed ? error : new ToolFailed("exit", `${name} failed.`);
