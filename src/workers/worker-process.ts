import { type ChildProcess, fork } from "node:child_process";
import { type Handlers, Port, type Protocol } from "./port.ts";

/** How a worker has ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Present if the worker could not be started, for example for lack of memory. */
  readonly error?: Error;
}

interface ForkOptions<In extends Protocol> {
  readonly entry: URL;
  readonly argument: string;
  /** The sockets that the worker inherits, as the descriptors from `firstSocketFd` on. */
  readonly sockets: readonly { readonly fd: number }[];
  /** The handlers for the calls of the worker. */
  readonly handlers: Handlers<In>;
}

/**
 * The descriptor at which a worker finds the first listening socket. The one before is the channel.
 */
export const firstSocketFd = 4;

/** The flags of a process that serves: see `scripts/node`, which gives the primary smaller ones. */
const youngGeneration = ["--min-semi-space-size=8", "--max-semi-space-size=16"];

/**
 * Starts a worker process. Never throws: a worker that cannot be started counts as ended at once.
 */
export const forkWorker = <Out extends Protocol, In extends Protocol>(options: ForkOptions<In>) => {
  const { promise: ended, resolve } = Promise.withResolvers<Exit>();
  const child = forkChild(options, resolve);
  const port = new Port<Out, In>(
    {
      send: (messages) => child && send(child, messages),
      onMessages: (receive) => void child?.on("message", receive),
    },
    options.handlers,
  );
  const exited = ended.then((exit) => {
    port.close();
    return exit;
  });
  return {
    port,
    /** Resolves when the process has ended and all its messages were received. Never rejects. */
    exited,
    kill: (): void => void child?.kill("SIGKILL"),
  };
};

const forkChild = <In extends Protocol>(
  { entry, argument, sockets }: ForkOptions<In>,
  onEnd: (exit: Exit) => void,
): ChildProcess | undefined => {
  const onFailure = (error: Error): void => onEnd({ code: null, signal: null, error });
  try {
    const child = fork(entry, [argument], {
      execArgv: [...process.execArgv, ...youngGeneration],
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit", "ipc", ...sockets.map(({ fd }) => fd)],
    });
    child.once("close", (code, signal) => onEnd({ code, signal }));
    child.on("error", (error) => {
      if (child.pid === undefined) onFailure(error); // other errors precede the end of the process
    });
    return child;
  } catch (error) {
    onFailure(error as Error); // such as ENOMEM; EAGAIN is emitted
    return undefined;
  }
};

/** Ignores failures: the end of a worker is noticed by its exit. */
const send = (child: ChildProcess, messages: readonly object[]): void => {
  if (child.connected) child.send(messages, undefined, {}, () => undefined);
};

/**
 * Opens the worker's end of the channel. The worker ends at once if the primary has ended, even by
 * kill -9.
 */
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
