import { type AudioStore, AudioStoreUnavailable } from "../../audio/store/audio-store.ts";
import { Archived, type ArchivedPart, Unavailable } from "../../domain/errors.ts";
import { startOfMonth } from "../../domain/ledger/month.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import type { Audit } from "../../ledger/audit/audit.ts";
import type { AuditEntry } from "../../ledger/audit/audit-entries.ts";
import type { CommandContext } from "../execute-command.ts";
import type { DeleteAudio } from "./delete-audio.ts";

/**
 * Deletes the private audio that was served to these keys, as `DeleteAudio` does: the hash of
 * private audio is that of one website. Resolves with the number of hashes that were in the store.
 * The deletion can be repeated: then it deletes what is left.
 * @throws {NotFound} for a key that was never issued
 * @throws {Archived} if servings were deleted after they were archived. The audio that was served
 * in later months is deleted
 * @throws {Unavailable}
 */
export type DeletePrivateAudio = (apiKeys: readonly string[], context: CommandContext) => Promise<number>;

export const createDeletePrivateAudio =
  ({
    audit,
    openStore,
    deleteAudio,
  }: {
    readonly audit: Audit;
    readonly openStore: () => Promise<Pick<AudioStore, "list">>;
    readonly deleteAudio: DeleteAudio;
  }): DeletePrivateAudio =>
  async (apiKeys, context) => {
    const served = new Set<string>();
    const servedByProvider = new Set<string>();
    const add = ({ data }: AuditEntry): void => {
      const { hash, engine } = data as { readonly hash: string; readonly engine: string };
      served.add(hash);
      if (isByok(engine)) servedByProvider.add(hash);
    };
    const missing: ArchivedPart[] = [];
    for (const apiKey of apiKeys) missing.push(...(await readServings(audit, apiKey, add)));
    const stored = new Set<string>();
    if (served.size > 0) {
      const store = await openStore();
      for (const hash of await listed(store, "private", served)) stored.add(hash);
      // Version 0.1.0 stored the audio of providers here, beside public audio.
      for (const hash of await listed(store, "audio", servedByProvider)) stored.add(hash);
    }
    for (const hash of stored) await deleteAudio(hash, context);
    if (missing.length > 0) throw new Archived(byFile(missing));
    return stored.size;
  };

/** Each file once: the keys of a website may share journals, or need different files. */
const byFile = (parts: readonly ArchivedPart[]): ArchivedPart[] => {
  const files = new Map<string, ArchivedPart>();
  for (const { file, journals, months } of parts) {
    const other = files.get(file) ?? { journals: 0, months: [] };
    const all = [...new Set([...other.months, ...months])].sort();
    files.set(file, { file, journals: Math.max(other.journals, journals), months: all });
  }
  return [...files.values()];
};

/** Resolves with the archives whose months, and those before, were left out. */
const readServings = async (
  audit: Audit,
  apiKey: string,
  onServing: (entry: AuditEntry) => void,
): Promise<readonly ArchivedPart[]> => {
  const request = { apiKey, type: "SynthesisServed" };
  try {
    for await (const serving of audit(request)) onServing(serving);
    return [];
  } catch (error) {
    if (!(error instanceof Archived)) throw error;
    const months = error.archives.flatMap((archive) => archive.months).sort();
    const from = new Date(startOfMonth(months.at(-1) as string, 1)).toISOString();
    for await (const serving of audit({ ...request, from })) onServing(serving);
    return error.archives;
  }
};

const listed = async (
  store: Pick<AudioStore, "list">,
  folder: "private" | "audio",
  served: ReadonlySet<string>,
): Promise<string[]> => {
  const found: string[] = [];
  try {
    for await (const { hash } of store.list(new AbortController().signal, folder))
      if (served.has(hash)) found.push(hash);
  } catch (error) {
    if (!(error instanceof AudioStoreUnavailable)) throw error;
    throw new Unavailable(`The audio cannot be listed: ${error.message}`, 5, { cause: error });
  }
  return found;
};
