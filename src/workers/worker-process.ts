import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type Handlers, Port, type Protocol } from "./port.ts";

/** How a worker has ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type WorkerProcess<Out extends Protocol, In extends Protocol> = ReturnType<typeof forkWorker<Out, In>>;

interface ForkOptions<In extends Protocol> {
  readonly entry: URL;
  readonly argument: string;
  /** Inherited as the descriptors from `firstSocketFd` on. */
  readonly sockets: readonly { readonly fd: number }[];
  /** Calls of the worker. */
  readonly handlers: Handlers<In>;
}

/** A worker finds the first listening socket at this descriptor; the fourth is the channel. */
export const firstSocketFd = 4;

/** Starts a worker process. */
export const forkWorker = <Out extends Protocol, In extends Protocol>({
  entry,
  argument,
  sockets,
  handlers,
}: ForkOptions<In>) => {
  const child = fork(entry, [argument], {
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc", ...sockets.map(({ fd }) => fd)],
  });
  const port = new Port<Out, In>(
    {
      send: (messages) => send(child, messages),
      onMessages: (receive) => void child.on("message", receive),
    },
    handlers,
  );
  const exited = once(child, "exit").then(([code, signal]): Exit => {
    port.close();
    return { code, signal };
  });
  return {
    port,
    pid: child.pid ?? 0,
    /** Resolves when the process has ended. */
    exited,
    kill: (): void => void child.kill("SIGKILL"),
  };
};

/** A worker that has just ended is noticed by its exit. */
const send = (child: ChildProcess, messages: readonly object[]): void => {
  if (child.connected) child.send(messages, undefined, {}, () => undefined);
};

/** The worker's end of the channel. It ends at once if the primary has ended, kill -9 included. */
export const connectToPrimary = <Out extends Protocol, In extends Protocol>(
  handlers: Handlers<In>,
): Port<Out, In> => {
  process.on("disconnect", () => process.exit(1));
  return new Port<Out, In>(
    {
      send: (messages) => void process.send?.(messages, undefined, {}, () => undefined),
      onMessages: (receive) => void process.on("message", receive),
    },
    handlers,
  );
};
