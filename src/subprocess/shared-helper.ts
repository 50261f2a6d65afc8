import type { ProcessEnd } from "../domain/process-end.ts";
import { type ForkOptions, type HelperChannel, HostProcess, type Ready } from "./host-process.ts";
import type { Request, Response } from "./protocol.ts";
import { superviseHostProcess, type Warn } from "./supervisor.ts";
import { ToolFailed } from "./tools.ts";

/**
 * The calls to the process that shares its helper with others. `number`: the number of the helper
 * process.
 */
export type HelperCalls = {
  /** Responds with the running helper process, or with the reason why it did not start. */
  openHelper: {
    request: ForkOptions;
    response:
      | { readonly number: number; readonly pid: number; readonly report: Ready }
      | { readonly failure: string };
  };
  toHelper: { request: { readonly number: number; readonly request: Request }; response: undefined };
  killHelper: { request: number; response: undefined };
};

/** The calls of that process to the others. */
export type HelperResponses = {
  fromHelper: { request: { readonly number: number; readonly response: Response }; response: undefined };
  helperEnded: {
    request: { readonly number: number; readonly end: ProcessEnd };
    response: undefined;
  };
};

type Post<Calls extends Record<string, { readonly request: unknown }>> = <K extends keyof Calls & string>(
  kind: K,
  request: Calls[K]["request"],
) => void;

/** Shares one helper process with other processes. `warn`: see `superviseHostProcess`. */
export const shareHelper = (warn: Warn) => {
  let supervisor: ReturnType<typeof superviseHostProcess> | undefined;
  const numbers = new Map<HostProcess, number>();
  let lastNumber = 0;

  const numberOf = (host: HostProcess): number => {
    const known = numbers.get(host);
    if (known !== undefined) return known;
    lastNumber += 1;
    numbers.set(host, lastNumber);
    void host.gone.then(() => numbers.delete(host));
    return lastNumber;
  };

  return {
    /**
     * Returns the handlers for the calls of one process, and `end`, to be called when that process
     * has ended.
     */
    serve: (post: Post<HelperResponses>) => {
      const attached = new Map<number, { readonly host: HostProcess; readonly jobs: AttachedJobs }>();
      const attach = (number: number, host: HostProcess): void => {
        if (attached.has(number)) return;
        const jobs = host.attach((response) => post("fromHelper", { number, response }));
        attached.set(number, { host, jobs });
        void host.gone.then((end) => {
          attached.delete(number);
          post("helperEnded", { number, end });
        });
      };
      return {
        handlers: {
          openHelper: async (options: ForkOptions): Promise<HelperCalls["openHelper"]["response"]> => {
            try {
              supervisor ??= superviseHostProcess(options, warn);
              const host = await supervisor.current();
              const number = numberOf(host);
              attach(number, host);
              return { number, pid: host.pid, report: host.report };
            } catch (error) {
              return { failure: (error as Error).message };
            }
          },
          toHelper: ({ number, request }: HelperCalls["toHelper"]["request"]): void =>
            attached.get(number)?.jobs.send(request),
          killHelper: (number: number): void => attached.get(number)?.host.kill(),
        },
        end: (): void => {
          for (const { jobs } of attached.values()) jobs.detach();
          attached.clear();
        },
      };
    },
    close: async (): Promise<void> => await supervisor?.close(),
  };
};

type AttachedJobs = ReturnType<HostProcess["attach"]>;

interface Remote {
  readonly call: (kind: "openHelper", request: ForkOptions) => Promise<HelperCalls["openHelper"]["response"]>;
  readonly post: Post<HelperCalls>;
}

/** Uses the helper process that another process shares. */
export const createRemoteHelper = ({ call, post }: Remote) => {
  const running = new Map<
    number,
    { receive: (response: Response) => void; end: (end: ProcessEnd) => void }
  >();
  /**
   * The number of the last helper process whose end was reported. The report may come before this
   * process knows that the helper has started.
   */
  let lastEnded = 0;

  const channelTo = (number: number, pid: number): HelperChannel => {
    const ended = Promise.withResolvers<ProcessEnd>();
    const helper = { receive: (_: Response): void => {}, end: ended.resolve };
    if (number <= lastEnded) ended.resolve({});
    else running.set(number, helper);
    return {
      pid,
      send: (request) => post("toHelper", { number, request }),
      onResponse: (receive) => {
        helper.receive = receive;
      },
      ended: ended.promise,
      kill: () => post("killHelper", number),
      // The helper ends with the process that shares it. Only the jobs of this process end here.
      disconnect: () => ended.resolve({}),
    };
  };

  const start = async (options: ForkOptions): Promise<HostProcess> => {
    const opened = await call("openHelper", options);
    if ("failure" in opened) throw new ToolFailed("helper", opened.failure);
    const { number, pid, report } = opened;
    return new HostProcess(channelTo(number, pid), report);
  };

  return {
    supervise: ((options, warn) => superviseHostProcess(options, warn, start)) as typeof superviseHostProcess,
    handlers: {
      fromHelper: ({ number, response }: HelperResponses["fromHelper"]["request"]): void =>
        running.get(number)?.receive(response),
      helperEnded: ({ number, end }: HelperResponses["helperEnded"]["request"]): void => {
        lastEnded = number;
        running.get(number)?.end(end);
        running.delete(number);
      },
    },
  };
};
