import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Agreement } from "../../application/clock/clock-check.ts";

const recorded = z.object({ boot: z.string(), wall: z.number(), uptime: z.number() });

const movedMs = 1_000;
const renewMs = 60 * 60_000;

/**
 * Records when the clock was last known to be right. Later processes read this until the machine is
 * started again, so that a restarted service does not accept a clock that somebody has set. The
 * record is in DATA_DIR. If it cannot be read or written, a process knows only the time since its
 * own start.
 */
export const createBootRecord = (dataDir: string, boot = bootId()) => {
  const path = join(dataDir, "clock.json");
  const read = (): Agreement | undefined => {
    try {
      const { boot: of, ...agreement } = recorded.parse(JSON.parse(readFileSync(path, "utf8")));
      return of === boot ? agreement : undefined;
    } catch {
      return undefined;
    }
  };
  let last = read();
  return {
    agreement: last,
    write: (agreement: Agreement): void => {
      if (boot === undefined || (last && isSame(last, agreement))) return;
      last = agreement;
      try {
        const draft = `${path}.${process.pid}`;
        writeFileSync(draft, JSON.stringify({ boot, ...agreement }), { mode: 0o600 });
        renameSync(draft, path);
      } catch {
        last = undefined;
      }
    },
  };
};

const isSame = (one: Agreement, other: Agreement): boolean =>
  Math.abs(one.wall - one.uptime - other.wall + other.uptime) < movedMs &&
  Math.abs(other.uptime - one.uptime) < renewMs;

/** Identifies this start of the machine, on Linux. */
const bootId = (): string | undefined => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
};
