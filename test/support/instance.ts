import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const adminToken = "an-operator's-token-for-tests";
/** Tests use the voices that need no download, unless they ask for others. */
export const testSettings = { PORT: "0", VOICES: "classic" };
/** The master key of instances that share a log. */
export const masterKey = Buffer.alloc(32, 3).toString("base64");

/** The service as a child process. */
export interface RunningService {
  /** The URL of its first instance, or of the balancer. */
  readonly url: string;
  /** The process id of its first instance. */
  readonly pid: number;
  /** The process ids of all instances. */
  readonly pids: readonly number[];
  /** Every line that it has logged. */
  readonly log: readonly string[];
  /** Resolves when every instance's views include what was written before the call. */
  kept(): Promise<void>;
  /** Sends SIGTERM and waits for the exit; returns the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

/**
 * Reading the files of natural voices takes 80 ms of CPU time, so they are read only if a test asks
 * for voices.
 */
const voicesOf = ({ VOICES }: Record<string, string>) =>
  VOICES === undefined ? { NATURAL_VOICES_DIR: "none" } : {};

/**
 * Starts `src/main.ts` on a free loopback port and waits until it listens. `checkout`: the
 * directory of another version of the service.
 */
export const startInstance = async (
  dataDir: string,
  env: Record<string, string> = {},
  checkout?: string,
): Promise<RunningService> => {
  const own = { DATA_DIR: dataDir, ADMIN_TOKEN: adminToken, LOG_LEVEL: "info" };
  const settings = { ...testSettings, ...voicesOf(env), ...own, ...env };
  const child = spawnService(settings, checkout);
  const log: string[] = [];
  child.stderr?.on("data", (chunk) => log.push(String(chunk)));
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    log.push(line);
    const { msg, url } = parsed(line);
    if (msg === "listening" && url) listening.resolve(url);
  });
  const ended = once(child, "exit");
  void ended.then(([code]) =>
    listening.reject(new Error(`the service ended with ${code}: ${log.join("\n")}`)),
  );
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await ended)[0];
  };
  return {
    url: await listening.promise,
    pid: child.pid ?? 0,
    pids: [child.pid ?? 0],
    log,
    kept: async () => {},
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
  };
};

/** Runs `src/main.ts` until it exits, for starts that must fail. */
export const failToStart = async (
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = spawnService(env);
  const outputs = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => {
    outputs.stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    outputs.stderr += chunk;
  });
  const [code] = await once(child, "close");
  return { code, ...outputs };
};

const spawnService = (env: Record<string, string>, checkout?: string): ChildProcess =>
  spawn("scripts/node", ["src/main.ts"], {
    cwd: checkout,
    env: { PATH: process.env.PATH ?? "", VOICE_GALLERY: "off", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });

const parsed = (line: string): { msg?: string; url?: string } => {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
};
