import type { Limits, Response } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { createWindow, inParts } from "../window.ts";
import type { ToolProcess } from "./exit-failure.ts";

export type Job = ReturnType<typeof serveJob>;

/** The helper's side of a job. */
export const serveJob = (
  job: number,
  name: string,
  work: ToolProcess,
  limits: Limits,
  send: (response: Response) => void,
) => {
  const window = createWindow();
  let stopped: ToolFailed | undefined;

  const stop = (failure: ToolFailed) => {
    stopped ??= failure;
    work.kill();
    window.open();
  };
  const seconds = limits.deadlineMs / 1000;
  const late = new ToolFailed("deadline", `${name} did not finish within ${seconds} s.`);
  const deadline = setTimeout(stop, limits.deadlineMs, late);
  // A process that exits early closes its input; its exit reports the cause.
  work.input.on("error", () => undefined);

  /** After a stop the output is discarded until the process has exited. */
  const passOn = async (): Promise<number> => {
    let size = 0;
    for await (const chunk of work.output) {
      size += chunk.length;
      if (size > limits.maxOutputBytes) stop(new ToolFailed("flood", `${name} exceeded the output limit.`));
      for (const bytes of inParts(chunk)) {
        await window.ready();
        if (stopped) break;
        window.sent(bytes.length);
        send({ type: "output", job, bytes });
      }
    }
    return size;
  };

  const outcome = async (): Promise<Response> => {
    try {
      const size = await passOn();
      if (stopped) throw stopped;
      if (size === 0) throw new ToolFailed("silent", `${name} produced no output.`);
      const events = work.events?.();
      return { type: "done", job, ...(events && { events }) };
    } catch (error) {
      const { reason, message } = stopped ?? asToolFailed(name, error);
      return { type: "failed", job, reason, message };
    } finally {
      clearTimeout(deadline);
    }
  };

  return {
    input: (bytes: Buffer): void => {
      work.input.write(bytes, () => send({ type: "written", job, bytes: bytes.length }));
    },
    end: (): void => void work.input.end(),
    taken: window.acknowledged,
    /** Kills the process; `failed` is sent when it has exited. */
    stop,
    /** Resolves when `done` or `failed` has been sent. */
    finished: outcome().then(send),
  };
};

const asToolFailed = (name: string, error: unknown): ToolFailed =>
  error instanceof ToolFailed ? error : new ToolFailed("exit", `${name} failed.`);
