import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isAbort, type Query } from "./api.ts";
import { useSession } from "./session.ts";

type State<T> =
  | { readonly status: "loading"; readonly value: undefined }
  | { readonly status: "failed"; readonly value: undefined; readonly error: unknown }
  /** `isStale`: it is being read again. `error`: why the last reload failed. */
  | { readonly status: "ready"; readonly value: T; readonly isStale: boolean; readonly error?: unknown };

/** Data of the service that a view shows. */
export type Data<T> = State<T> & { readonly reload: () => void };

/** Reads a resource of the service, again whenever the path or the query changes. */
export const useGet = <T>(path: string, query?: Query): Data<T> => {
  const { api } = useSession();
  return useData((signal) => api.get<T>(path, { query, signal }), [path, JSON.stringify(query)]);
};

/**
 * Loads data, again whenever an input changes, and cancels requests that are no longer needed.
 * Earlier data stays visible until the new data has arrived, also if reading it again with the same
 * inputs fails.
 */
export const useData = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Data<T> => {
  const [state, setState] = useState<State<T>>({ status: "loading", value: undefined });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  /** The inputs of the data that is shown. */
  const shown = useRef<readonly unknown[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState((before) =>
      before.status === "ready" ? { ...before, isStale: true } : { status: "loading", value: undefined },
    );
    latest.current(signal).then(
      (value) => {
        if (signal.aborted) return;
        shown.current = inputs;
        setState({ status: "ready", value, isStale: false });
      },
      (error: unknown) => {
        if (signal.aborted || isAbort(error)) return;
        const isShown = shown.current.every((input, index) => Object.is(input, inputs[index]));
        setState((before) =>
          before.status === "ready" && isShown
            ? { ...before, isStale: false, error }
            : { status: "failed", value: undefined, error },
        );
      },
    );
    return () => controller.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return useMemo(() => ({ ...state, reload }), [state, reload]);
};
