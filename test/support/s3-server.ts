import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { S3Address } from "../../src/audio/store/s3-address.ts";
import { freePort } from "./free-port.ts";
import { pollTimeoutMs } from "./processes.ts";

/**
 * A real S3 server as a child process on the loopback interface, with a temporary data directory.
 */
export interface S3Server {
  readonly port: number;
  /** The credentials of the owner, who may do everything. */
  readonly accessKey: string;
  readonly secretKey: string;
  /** The `AUDIO_STORE` value of a bucket on this server; the bucket need not exist. */
  location(bucket: string, changes?: Partial<S3Address>): S3Address;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
  /** Restarts it on the same port and data; resolves when it is ready. */
  restart(): Promise<void>;
  /** Stops it and removes its data directory. */
  stop(): Promise<void>;
}

/** How to run a kind of server. */
export interface S3Program {
  readonly name: "minio" | "versitygw";
  /** The path that responds with 200 when the server is ready. */
  readonly readyPath: string;
  command(place: { port: number; folder: string; accessKey: string; secretKey: string }): {
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
}

const region = "us-east-1";
const accessKey = "voxledger-test";
const secretKey = "a/secret+key=of the tests";

export const startS3Server = async (program: S3Program): Promise<S3Server> => {
  const file = resolve(import.meta.dirname, "../../.tools/bin", program.name);
  if (!existsSync(file)) throw new Error(`${file} is missing: run scripts/s3-servers (scripts/test does).`);
  const folder = await mkdtemp(join(tmpdir(), `voxledger-${program.name}-`));
  const port = await freePort();
  const { args, env } = program.command({ port, folder, accessKey, secretKey });

  const launch = async (): Promise<ChildProcess> => {
    const child = spawn(file, args, {
      cwd: folder,
      env: { ...env, HOME: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    for (const output of [child.stdout, child.stderr]) output.on("data", (chunk) => said.push(String(chunk)));
    process.once("exit", () => child.kill("SIGKILL"));
    await ready(`http://127.0.0.1:${port}${program.readyPath}`, () => {
      if (hasEnded(child)) throw new Error(`${program.name} ended: ${said.join("")}`);
    });
    return child;
  };

  let child = await launch();
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const kill = async (): Promise<void> => {
    if (hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };

  return {
    port,
    accessKey,
    secretKey,
    location: (bucket, changes) => ({
      ...{ endpoint: "127.0.0.1", port, tls: false, accessKey, secretKey, bucket, region },
      ...changes,
    }),
    kill,
    restart: async () => {
      await kill();
      child = await launch();
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Polls until the response is 200. Fails after `pollTimeoutMs`. */
const ready = async (url: string, check: () => void): Promise<void> => {
  const signal = AbortSignal.timeout(pollTimeoutMs);
  for (;;) {
    check();
    const response = await fetch(url, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await delay(20, undefined, { signal });
  }
};

/** The `AUDIO_STORE` value of this place. */
export const addressOf = (place: S3Address): string => {
  const [access, secret] = [place.accessKey, place.secretKey].map(encodeURIComponent);
  const query = new URLSearchParams({ tls: String(place.tls), region: place.region });
  return `s3://${access}:${secret}@${place.endpoint}:${place.port}/${place.bucket}?${query}`;
};
