import type { ComponentChildren, VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "../api.ts";
import { html } from "../html.ts";
import { Failed } from "./status.ts";

/** Long work that the person starts, watches and may cancel. */
interface Task<T> {
  readonly status: "idle" | "running" | "done" | "cancelled" | "failed";
  readonly progress: string;
  readonly value: T | undefined;
  readonly error: unknown;
  run(work: (signal: AbortSignal, onProgress: (text: string) => void) => Promise<T>): void;
  cancel(): void;
}

type State<T> = Omit<Task<T>, "run" | "cancel">;

const idle = { status: "idle", progress: "", value: undefined, error: undefined } as const;

/** Starting again, and leaving the screen, cancel what is running. */
export const useTask = <T>(): Task<T> => {
  const [state, setState] = useState<State<T>>(idle);
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const run = useCallback<Task<T>["run"]>((work) => {
    controller.current?.abort();
    const current = new AbortController();
    controller.current = current;
    const isCurrent = () => controller.current === current && !current.signal.aborted;
    setState({ ...idle, status: "running" });
    const onProgress = (progress: string) => {
      if (isCurrent()) setState((before) => ({ ...before, progress }));
    };
    work(current.signal, onProgress).then(
      (value) => isCurrent() && setState({ ...idle, status: "done", value }),
      (error: unknown) => isCurrent() && !isAbort(error) && setState({ ...idle, status: "failed", error }),
    );
  }, []);
  const cancel = useCallback(() => {
    controller.current?.abort();
    setState({ ...idle, status: "cancelled" });
  }, []);
  return { ...state, run, cancel };
};

/** The state of a task, with a button to cancel it, and the result when it is done. */
export const TaskView = <T>({
  task: { status, progress, value, error, cancel },
  what,
  children,
}: {
  task: Task<T>;
  what: string;
  children?: (value: T) => ComponentChildren;
}): VNode => html`<div class="task">
    <p role="status">${status === "running" && html`<span class="spinner" aria-hidden="true"></span>${what}… ${progress}`}
      ${status === "cancelled" && "Cancelled."}</p>
    ${status === "running" && html`<button type="button" onClick=${cancel}>Cancel</button>`}
    ${status === "failed" && html`<${Failed} error=${error} />`}
    ${status === "done" && children?.(value as T)}
  </div>`;
