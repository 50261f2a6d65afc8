import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A server script of this folder in a child process. */
export interface ServerProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server on a free loopback port and waits for the address that it prints. */
export const startServer = async (program: string, ...args: readonly string[]): Promise<ServerProcess> => {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};
