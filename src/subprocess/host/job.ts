import type { Time } from "../../async/time.ts";
import type { JobSpec, Response, TextResponse } from "../protocol.ts";
import type { ToolFailed } from "../tools.ts";
import { createWindow, inParts } from "../window.ts";
import type { ToolProcess } from "./exit-failure.ts";
import { asToolFailed, LimitedProcess } from "./limited-process.ts";

/** The helper's side of a job. */
export class Job {
  /** Resolves when `done` or `failed` has been sent. */
  readonly finished: Promise<void>;
  readonly #id: number;
  readonly #name: string;
  readonly #toolProcess: ToolProcess;
  readonly #limited: LimitedProcess;
  readonly #send: (response: Response) => void;
  readonly #window = createWindow();

  constructor(
    id: number,
    name: string,
    toolProcess: ToolProcess,
    spec: JobSpec,
    send: (response: Response) => void,
    time?: Time,
  ) {
    this.#id = id;
    this.#name = name;
    this.#toolProcess = toolProcess;
    this.#send = send;
    this.#limited = new LimitedProcess(name, toolProcess, spec, { time, onStop: this.#window.open });
    this.finished = this.#outcome().then(send);
  }

  input(bytes: Buffer): void {
    this.#limited.extend(bytes);
    this.#toolProcess.input.write(bytes, () =>
      this.#send({ type: "written", job: this.#id, bytes: bytes.length }),
    );
  }

  end(): void {
    this.#toolProcess.input.end();
  }

  taken(bytes: number): void {
    this.#window.acknowledged(bytes);
  }

  onResponse(response: TextResponse): void {
    this.#toolProcess.onResponse?.(response);
  }

  /** Kills the process; `failed` is sent when it has exited. */
  stop(failure: ToolFailed): void {
    this.#limited.stop(failure);
  }

  async #outcome(): Promise<Response> {
    const job = this.#id;
    try {
      for await (const chunk of this.#limited.output()) await this.#pass(chunk);
      return { type: "done", job, ...this.#toolProcess.spoken?.() };
    } catch (error) {
      return { type: "failed", job, ...asToolFailed(this.#name, error).failure };
    }
  }

  async #pass(chunk: Buffer): Promise<void> {
    for (const bytes of inParts(chunk)) {
      await this.#window.ready();
      if (this.#limited.isStopped) return;
      this.#window.sent(bytes.length);
      this.#send({ type: "output", job: this.#id, bytes });
    }
  }
}
