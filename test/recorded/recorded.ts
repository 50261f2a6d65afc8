import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { Credentials } from "../support/client.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { adminToken } from "../support/instance.ts";

export const archiveName = "installation.tar.br";

export const storeKinds = ["sqlite", "eventstoredb"] as const;
export type StoreKind = (typeof storeKinds)[number];

/**
 * The versions that are recorded, by their number, or by the commit before versions were tagged.
 */
export const recordedVersions: readonly string[] = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(join(import.meta.dirname, name, "sqlite", archiveName)),
);

/** The whole audio of a request, which was a 200. */
export interface RecordedAudio {
  readonly apiKey: string;
  /** The path and query of the GET request. */
  readonly path: string;
  readonly sha256: string;
  /** The headers `Content-Location` and `Link`. Private audio has no location. */
  readonly location: string | undefined;
  readonly link: string | undefined;
}

/** What record.ts writes beside an installation. */
export interface Recorded {
  /** Settings that the installation needs. */
  readonly settings: Record<string, string>;
  /** When the recording ended. */
  readonly at: string;
  readonly websites: Record<"shop" | "library" | "forum" | "second", Credentials>;
  /** The key and month of key-month.ndjson. */
  readonly keyMonth: { readonly apiKey: string; readonly month: string };
  readonly audio: readonly RecordedAudio[];
  /** The body of each response of the admin API, by its path. */
  readonly reports: Record<string, Record<string, unknown>>;
}

export interface OpenInstallation {
  readonly recorded: Recorded;
  /** The settings of a service on a copy of the installation. */
  readonly env: Record<string, string>;
  /** The path of a file of the archive. */
  readonly pathOf: (file: string) => string;
  readonly remove: () => Promise<void>;
}

/** Unpacks an archive into a temporary folder. */
export const unpack = async (archive: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-recorded-"));
  execFileSync("tar", ["-x", "-C", folder], { input: brotliDecompressSync(await readFile(archive)) });
  return folder;
};

/**
 * Opens a copy of a recorded installation. `clock`: that of the EventStoreDB node, in milliseconds
 * since the epoch.
 */
export const openRecorded = async (
  version: string,
  kind: StoreKind,
  clock: () => number = Date.now,
): Promise<OpenInstallation> => {
  const source = join(import.meta.dirname, version, kind);
  const folder = await unpack(join(source, archiveName));
  const dataDir = join(folder, "installation");
  const dataFile = join(dataDir, "eventstoredb.ndjson");
  const node = kind === "sqlite" ? undefined : await startEventStoreDBNode({ clock, dataFile });
  const recorded: Recorded = JSON.parse(await readFile(join(source, "recorded.json"), "utf8"));
  return {
    recorded,
    env: {
      PORT: "0",
      DATA_DIR: dataDir,
      ADMIN_TOKEN: adminToken,
      ...recorded.settings,
      ...(node && { EVENT_STORE: node.url }),
    },
    pathOf: (file) => join(folder, file),
    remove: async () => {
      await node?.close();
      await rm(folder, { recursive: true });
    },
  };
};
