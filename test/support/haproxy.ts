import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.ts";

const configuration = join(import.meta.dirname, "../../infra/haproxy/haproxy.cfg");

/** Debian installs it outside of ordinary users' PATH. */
const env = { PATH: `${process.env.PATH}:/usr/sbin` };

/** The addresses, as `host:port`, that replace the names in the configuration. */
export type Places = Readonly<Record<"voxledger-1:8080" | "voxledger-2:8080" | "varnish:80", string>>;

export interface Haproxy {
  /** The public frontend. */
  readonly publicUrl: string;
  /** The frontend with the admin API. */
  readonly operatorsUrl: string;
  stop(): Promise<void>;
}

/** True if haproxy is installed. */
export const hasHaproxy = async (): Promise<boolean> => {
  const probe = spawn("haproxy", ["-v"], { env, stdio: "ignore" });
  return await new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.once("exit", (code) => resolve(code === 0));
  });
};

/** The configuration's warnings and errors, unknown addresses aside. */
export const complaints = async (): Promise<string[]> => {
  const check = spawn("haproxy", ["-c", "-f", configuration], { env, stdio: ["ignore", "ignore", "pipe"] });
  const [said, [code]] = await Promise.all([text(check.stderr), once(check, "exit")]);
  const found = said
    .split("\n")
    .filter((line) => /\[(WARNING|ALERT)\]/.test(line) && !line.includes("could not resolve address"));
  return code === 0 ? found : [...found, `ended with ${code}`];
};

/** Starts HAProxy with the configuration of infra/haproxy on the loopback address. */
export const startHaproxy = async (places: Places): Promise<Haproxy> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-haproxy-"));
  const [publicPort, operatorsPort] = [await freePort(), await freePort()];
  let written = await readFile(configuration, "utf8");
  for (const [name, place] of Object.entries(places)) written = written.replaceAll(` ${name} `, ` ${place} `);
  written = written
    .replaceAll(/ resolvers docker init-addr \S+/g, "")
    .replaceAll("inter 2s", "inter 50ms")
    // A busy machine may respond to a health check late.
    .replace("timeout check 2s", "timeout check 30s")
    .replace("bind :8080", `bind 127.0.0.1:${publicPort}`)
    .replace("bind :8081", `bind 127.0.0.1:${operatorsPort}`);
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, written);
  const child = spawn("haproxy", ["-db", "-f", file], { env, stdio: "ignore" });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  await Promise.all([publicPort, operatorsPort].map((port) => listening(port, child)));
  return {
    publicUrl: `http://127.0.0.1:${publicPort}`,
    operatorsUrl: `http://127.0.0.1:${operatorsPort}`,
    stop: async () => {
      process.off("exit", kill);
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const listening = async (port: number, child: ChildProcess): Promise<void> => {
  while (child.exitCode === null) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await delay(20);
  }
  throw new Error(`haproxy ended with ${child.exitCode}`);
};
