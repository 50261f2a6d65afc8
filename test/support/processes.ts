import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export interface Process {
  readonly pid: number;
  readonly command: string;
}

interface Seen extends Process {
  readonly parent: number;
}

/** The running processes with this parent; zombies are excluded. */
export const childrenOf = (pid: number): Process[] => running().filter(({ parent }) => parent === pid);

/** All descendants of the process. */
export const descendantsOf = (pid: number): Process[] => {
  const all = running();
  const below = (parent: number): Process[] =>
    all.filter((one) => one.parent === parent).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
};

/** The workers of a service, whose first process this is. */
export const workersOf = (pid: number): number[] =>
  childrenOf(pid)
    .map((child) => child.pid)
    .filter((child) => commandLineOf(child).includes("src/worker.ts"));

/** The arguments of a process, each followed by a zero byte; empty if it has exited. */
export const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

/** @throws if there is no such process: 0 would be the test's own group */
export const signal = (pid: number | undefined, name: NodeJS.Signals): void => {
  if (!pid) throw new Error("there is no process to signal");
  process.kill(pid, name);
};

export const isRunning = (pid: number): boolean => look(pid).length > 0;

/** The CPU time of a process so far, in hundredths of a second; 0 if it has exited. */
export const cpuTicksOf = (pid: number): number => {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "";
    const [user = 0, system = 0] = afterName.split(" ").slice(11, 13).map(Number);
    return user + system;
  } catch {
    return 0;
  }
};

/**
 * How long a test polls for a condition: less than mocha's timeout, so that the failure names the
 * condition.
 */
export const pollTimeoutMs = 240_000;

/** Polls until the condition holds. Fails after `pollTimeoutMs`. */
export const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + pollTimeoutMs; !holds(); await delay(10)) {
    if (Date.now() > end) throw new Error(`it never came to be that ${what}`);
  }
};

export const gone = (...pids: number[]): Promise<void> =>
  until("the processes are gone", () => !pids.some(isRunning));

const running = (): Seen[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .flatMap(look);

const look = (pid: number): Seen[] => {
  try {
    const [, command = "", state, parent] =
      /^\d+ \((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return state === "Z" || state === "X" ? [] : [{ pid, command, parent: Number(parent) }];
  } catch {
    return []; // It exited meanwhile.
  }
};
