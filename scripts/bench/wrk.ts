import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** A Lua script that makes the requests. */
  readonly script?: string;
}

export interface Measured {
  /** Complete responses received before the end; up to one more per connection was in flight. */
  readonly responses: number;
  readonly perSecond: number;
  /** The 99th percentile of the times to a complete response. */
  readonly p99Ms: number;
}

const milliseconds: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000 };

/**
 * Requests one URL repeatedly with wrk in one thread.
 * @throws when a response was not successful
 */
export const wrk = async ({ url, headers, connections, seconds, script }: Load): Promise<Measured> => {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const load = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "--timeout", "10s", "--latency"];
  if (script !== undefined) load.push("-s", script);
  const { stdout } = await promisify(execFile)("wrk", [...load, ...headerArguments, url]);
  if (/Non-2xx|Socket errors/.test(stdout))
    throw new Error(`not every request was answered well:\n${stdout}`);
  const [, responses] = /(\d+) requests in/.exec(stdout) ?? [];
  const [, perSecond] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  const [, p99 = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  return {
    responses: Number(responses),
    perSecond: Number(perSecond),
    p99Ms: Number(p99) * (milliseconds[unit] ?? Number.NaN),
  };
};
