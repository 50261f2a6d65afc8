import { promisify } from "node:util";
import { brotliCompress, brotliDecompress } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { View } from "../../projections/runner/view.ts";
import {
  type PageScripts,
  type PageScriptsEvent,
  type PinnedScripts,
  pageScriptsDecider,
  pageScriptsHash,
  pageScriptsStream,
  pinPageScripts,
} from "../domain/page-scripts.ts";
import type { EpochMs } from "../domain/time.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { throwUnavailable } from "../eventstore/store-error.ts";
import type { CommandContext, ExecuteCommand } from "./execute-command.ts";

/**
 * Pins the scripts, so that every later release serves them at their permanent addresses. Resolves
 * with their hash.
 * @throws {Unavailable}
 */
export type PinScripts = (scripts: PageScripts, context: CommandContext) => Promise<string>;

export const createPinScripts =
  ({ execute, clock }: { readonly execute: ExecuteCommand; readonly clock: () => EpochMs }): PinScripts =>
  async (scripts, context) => {
    const json = JSON.stringify(scripts);
    const hash = pageScriptsHash(json);
    const compressed = (await promisify(brotliCompress)(json)).toString("base64");
    const pinned = { scripts: compressed, at: new Date(clock()).toISOString() };
    const decide = (state: PinnedScripts) => pinPageScripts(state, pinned);
    await execute(pageScriptsDecider, pageScriptsStream(hash), decide, context);
    return hash;
  };

/**
 * Resolves with pinned scripts; undefined if no scripts with this hash are pinned.
 * @throws {Unavailable}
 */
export type FindPinnedScripts = (hash: string) => Promise<PageScripts | undefined>;

/** Releases whose scripts stay in memory, each with 0.3 MB. */
const maxInMemory = 8;

/** Protects the memory: another program may have written the event. */
const maxOutputLength = 16 * 1024 * 1024;

/** The event store is only read for hashes that the view knows. */
export const createFindPinnedScripts = ({
  store,
  view,
}: {
  readonly store: Pick<EventStore, "readStream">;
  readonly view: View<PinnedScripts>;
}): FindPinnedScripts => {
  const inMemory = new LRUCache<string, PageScripts>({
    max: maxInMemory,
    fetchMethod: (hash) => readScripts(store, hash).catch(throwUnavailable),
  });
  return async (hash) =>
    view.get(pageScriptsStream(hash))?.isPinned ? await inMemory.fetch(hash) : undefined;
};

/** Scripts that do not have the hash are not served. */
const readScripts = async (
  store: Pick<EventStore, "readStream">,
  hash: string,
): Promise<PageScripts | undefined> => {
  for await (const event of store.readStream(pageScriptsStream(hash))) {
    if (event.type !== ("PageScriptsPinned" satisfies PageScriptsEvent["type"])) continue;
    const { scripts } = event.data as PageScriptsEvent["data"];
    const json = await decompressed(scripts);
    if (json !== undefined && pageScriptsHash(json) === hash) return JSON.parse(json);
  }
  return undefined;
};

const decompressed = (base64: string): Promise<string | undefined> =>
  promisify(brotliDecompress)(Buffer.from(base64, "base64"), { maxOutputLength }).then(
    (json) => json.toString(),
    () => undefined,
  );
