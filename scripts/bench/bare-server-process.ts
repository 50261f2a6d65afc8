import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./bare-server.ts", import.meta.url));

export interface BareServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts node:http in a process of its own, on a free port of the loopback. */
export const startBareServer = async (headers: Record<string, string>): Promise<BareServer> => {
  const child = spawn(process.execPath, [program, JSON.stringify(headers)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
