import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import type { LoggedEvent } from "./logged-event.ts";

interface Line extends Omit<LoggedEvent, "data" | "metadata"> {
  readonly data: string;
  readonly metadata: string;
}

/**
 * Keeps the log in a file, with one line for each append. Acknowledged appends survive the process;
 * an incomplete last line was not acknowledged.
 */
export const openDataFile = (path: string, load: (events: readonly LoggedEvent[]) => void) => {
  if (existsSync(path)) {
    const text = readFileSync(path);
    const whole = text.subarray(0, text.lastIndexOf("\n") + 1);
    truncateSync(path, whole.length);
    for (const line of whole.toString("utf8").split("\n").slice(0, -1)) {
      load((JSON.parse(line) as Line[]).map(fromLine));
    }
  }
  const file = openSync(path, "a", 0o600);
  return {
    write: (events: readonly LoggedEvent[]): void => {
      writeSync(file, `${JSON.stringify(events.map(toLine))}\n`);
    },
    close: (): void => closeSync(file),
  };
};

const toLine = (event: LoggedEvent): Line => ({
  ...event,
  data: Buffer.from(event.data).toString("base64"),
  metadata: Buffer.from(event.metadata).toString("base64"),
});

const fromLine = (line: Line): LoggedEvent => ({
  ...line,
  data: Buffer.from(line.data, "base64"),
  metadata: Buffer.from(line.metadata, "base64"),
});
