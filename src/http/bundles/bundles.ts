import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { lazy } from "../../async/lazy.ts";
import { sleep } from "../../async/sleep.ts";
import { backgroundTime, type Time } from "../../async/time.ts";
import { errorMessage, Unavailable } from "../../domain/errors.ts";
import { type PageScripts, pageScriptsHash } from "../../domain/page-scripts.ts";
import { createFileDigests } from "../../files/file-digests.ts";
import { fileIdentity } from "../../files/file-identity.ts";
import { replaceFile } from "../../files/replace-file.ts";
import { type TaggedContent, taggedContent } from "../kernel/tagged-content.ts";
import type { BundledFiles, ClientScript } from "./bundle-program.ts";

const root = resolve(import.meta.dirname, "../../..");

/** The scripts and style sheets of the service's pages. */
export interface Bundles {
  readonly client: Readonly<Record<ClientScript, TaggedContent>>;
  /** The same scripts as texts. */
  readonly pageScripts: PageScripts;
  readonly pageScriptsHash: string;
  /**
   * The console's scripts by name. `console.js` and its imports are loaded with the page, the other
   * scripts with the screens that need them.
   */
  readonly console: ReadonlyMap<string, TaggedContent>;
  /** A part of the console's URLs, so that caches can store its files forever. */
  readonly consoleVersion: string;
  /** The files of the page that computes audio, by their names. */
  readonly reproduce: ReadonlyMap<string, TaggedContent>;
  readonly reproduceVersion: string;
}

export interface BundleLoader {
  /**
   * Waits until `load` has loaded the bundles.
   * @throws {Unavailable} if they cannot be bundled
   */
  readonly bundles: () => Promise<Bundles>;
  /** Loads the bundles. After a failure it tries again. */
  load(signal: AbortSignal): Promise<void>;
}

interface BundleLoaderOptions {
  readonly warn: (sentence: string) => void;
  /** The program that makes the bundles. Tests replace it. */
  readonly program?: string;
  readonly keptFile?: string;
  readonly time?: Time;
}

const retryMs = 60_000;

/**
 * Loads the bundles of bundle-program.ts, because the project has no build step. It uses those that
 * an earlier process kept if their sources are the same, and otherwise runs the program. The
 * program runs with an empty environment: bundlers need no secrets.
 */
export const createBundleLoader = ({
  warn,
  program = join(import.meta.dirname, "bundle-program.ts"),
  keptFile = join(root, "node_modules/.cache/voxledger-bundles.json"),
  time = backgroundTime,
}: BundleLoaderOptions): BundleLoader => {
  let attempt = newAttempt();

  const bundle = async (signal: AbortSignal): Promise<BundledFiles> => {
    const limits = { maxBuffer: 64 * 1024 * 1024, timeout: 300_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, signal, ...limits });
    await keep(keptFile, stdout).catch(() => undefined); // in a read-only installation, they stay in memory
    return JSON.parse(stdout);
  };

  return {
    bundles: lazy(async () => bundlesOf(await attempt.promise)),
    load: async (signal) => {
      while (!signal.aborted) {
        try {
          const files = (await readKept(keptFile)) ?? (await bundle(signal));
          attempt.resolve(files);
          return;
        } catch (error) {
          attempt.reject(new Unavailable("The scripts of this page are not available.", retryMs / 1_000));
          if (signal.aborted) return;
          warn(`the scripts of the pages cannot be bundled: ${errorMessage(error)}`);
        }
        await sleep(retryMs, { time, signal }).catch(() => undefined);
        attempt = newAttempt();
      }
    },
  };
};

/**
 * Loads the bundles for a command.
 * @throws {Unavailable}
 */
export const bundleOnce = async (): Promise<Bundles> => {
  const ended = new AbortController();
  const { bundles, load } = createBundleLoader({ warn: () => {} });
  const bundled = bundles();
  void load(ended.signal);
  try {
    return await bundled;
  } finally {
    ended.abort();
  }
};

const newAttempt = (): PromiseWithResolvers<BundledFiles> => {
  const attempt = Promise.withResolvers<BundledFiles>();
  attempt.promise.catch(() => undefined); // perhaps no request waits for it
  return attempt;
};

/**
 * Writes a line with the digest of the rest, then the rest.
 * @throws if nothing can be written there
 */
const keep = async (path: string, json: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, `${hash("sha256", json)}\n${json}`);
};

/**
 * Returns the kept bundles; undefined if there are none, they are damaged, or a source has changed.
 */
const readKept = async (path: string): Promise<BundledFiles | undefined> => {
  const [digest, json = ""] = (await readFile(path, "utf8").catch(() => "")).split("\n", 2);
  if (json === "" || digest !== hash("sha256", json)) return undefined;
  const files: BundledFiles = JSON.parse(json);
  return (await areUnchanged(files.inputs, `${path}.inputs`)) ? files : undefined;
};

/**
 * True if the sources have these digests. Reading 400 of them takes 60 ms of CPU time, so the file
 * at `record` keeps their digests.
 */
const areUnchanged = async (inputs: BundledFiles["inputs"], record: string): Promise<boolean> => {
  const digests = createFileDigests(record);
  for (const [input, digest] of Object.entries(inputs)) {
    const path = join(root, input);
    const identity = fileIdentity(path);
    if (identity === undefined) return false;
    const found = await digests.sha256(path, identity).catch(() => undefined);
    if (found !== digest) return false;
  }
  await digests.keep();
  return true;
};

const bundlesOf = (files: BundledFiles): Bundles => {
  const tagged = (text: string): TaggedContent => taggedContent(Buffer.from(text));
  const client = Object.entries(files.client).map(([path, text]) => [path, tagged(text)]);
  const named = (texts: Readonly<Record<string, string>>) =>
    new Map(Object.entries(texts).map(([name, text]) => [name, tagged(text)]));
  const versionOf = (texts: Readonly<Record<string, string>>): string =>
    hash("sha256", Object.values(texts).join("")).slice(0, 16);
  return {
    client: Object.fromEntries(client),
    pageScripts: files.client,
    pageScriptsHash: pageScriptsHash(JSON.stringify(files.client)),
    console: named(files.console),
    consoleVersion: versionOf(files.console),
    reproduce: named(files.reproduce),
    reproduceVersion: versionOf(files.reproduce),
  };
};
