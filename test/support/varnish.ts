import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const configuration = resolve(import.meta.dirname, "../../infra/varnish");

/**
 * A real Varnish with the configuration of infra/varnish on the loopback interface, in a temporary
 * directory.
 */
export interface Varnish extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts Varnish in front of two instances.
 * @throws when varnishd is missing, with what to install
 */
export const startVarnish = async (
  instances: readonly [url: string, url: string],
  { purgeToken }: { purgeToken?: string } = {},
): Promise<Varnish> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-varnish-"));
  const [vcl, state] = [join(folder, "vcl"), join(folder, "state")];
  await cp(configuration, vcl, { recursive: true });
  await pointAt(join(vcl, "backends.vcl"), instances);
  const child = spawn(
    "varnishd",
    [
      "-F",
      "-j",
      "none",
      "-n",
      state,
      "-a",
      "127.0.0.1:0",
      "-s",
      "malloc,32m",
      "-f",
      join(vcl, "default.vcl"),
    ],
    {
      env: { PATH: searchPath, ...(purgeToken !== undefined && { PURGE_TOKEN: purgeToken }) },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const said: string[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk) => said.push(String(chunk)));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const url = await Promise.race([address(state, child), failure(child, said)]);
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  return { url, stop, [Symbol.asyncDispose]: stop };
};

/** Debian installs it outside of ordinary users' PATH. */
const searchPath = `${process.env.PATH}:/usr/sbin`;

/** Replaces the backends in the file with these instances, in order. */
const pointAt = async (file: string, instances: readonly string[]): Promise<void> => {
  const places = instances.map((url) => new URL(url));
  const [hosts, ports] = [places.map(({ hostname }) => hostname), places.map(({ port }) => port)];
  const text = await readFile(file, "utf8");
  await writeFile(
    file,
    text
      .replace(/\.host = "[^"]*"/g, () => `.host = "${hosts.shift()}"`)
      .replace(/\.port = "[^"]*"/g, () => `.port = "${ports.shift()}"`),
  );
};

const failure = (child: ChildProcess, said: readonly string[]): Promise<never> =>
  new Promise((_, reject) => {
    child.once("error", () =>
      reject(new Error("varnishd is missing: run scripts/test, or install the package varnish.")),
    );
    child.once("exit", (code) => reject(new Error(`varnishd ended with ${code}: ${said.join("")}`)));
  });

/** Polls until its port is known. */
const address = async (state: string, child: ChildProcess): Promise<string> => {
  while (child.exitCode === null) {
    const listed = await run("varnishadm", ["-n", state, "-t", "1", "debug.listen_address"], {
      env: { PATH: searchPath },
    }).catch(() => undefined);
    const [, port] = /127\.0\.0\.1 (\d+)/.exec(listed?.stdout ?? "") ?? [];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
    await delay(50);
  }
  return await new Promise(() => {}); // never settles: the caller watches for the process's exit
};
