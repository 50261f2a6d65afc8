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
export const descendantsOf = (pid: number): Process[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child.pid)]);

export const isRunning = (pid: number): boolean => running().some((one) => one.pid === pid);

/** Polls until the condition holds. Fails after 50 s, which a busy machine may need. */
export const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + 50_000; !holds(); await delay(10)) {
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
