import type { Limits, Response } from "../protocol.ts";
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
  #stopped: ToolFailed | undefined;

  constructor(
    id: number,
    name: string,
    work: ToolProcess,
    { deadlineMs, maxOutputBytes }: Limits,
    send: (response: Response) => void,
  ) {
    this.#id = id;
    this.#name = name;
    this.#work = work;
    this.#send = send;
    // A process that exits early closes its input; its exit reports the cause.
    work.input.on("error", () => undefined);
    const late = new ToolFailed("deadline", `${name} did not finish within ${deadlineMs / 1000} s.`);
    const deadline = setTimeout(() => this.stop(late), deadlineMs);
    this.finished = this.#outcome(maxOutputBytes)
      .finally(() => clearTimeout(deadline))
      .then(send);
  }

  input(bytes: Buffer): void {
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
      const events = this.#work.events?.();
      return { type: "done", job, ...(events && { events }) };
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

const asToolFailed = (name: string, error: unknown): ToolFailed =>
  error instanceof ToolFailed ? error : new ToolFailed("exit", `${name} failed.`);
