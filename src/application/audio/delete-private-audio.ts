import { type AudioStore, AudioStoreUnavailable } from "../../audio/store/audio-store.ts";
import { Archived, Unavailable } from "../../domain/errors.ts";
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
    let missing: Archived | undefined;
    for (const apiKey of apiKeys) missing = (await readServings(audit, apiKey, add)) ?? missing;
    const stored = new Set<string>();
    if (served.size > 0) {
      const store = await openStore();
      for (const hash of await listed(store, "private", served)) stored.add(hash);
      // Version 0.1.0 stored the audio of providers here, beside public audio.
      for (const hash of await listed(store, "audio", servedByProvider)) stored.add(hash);
    }
    for (const hash of stored) await deleteAudio(hash, context);
    if (missing) throw missing;
    return stored.size;
  };

/** Resolves with an error if it read only the months after those whose servings were deleted. */
const readServings = async (
  audit: Audit,
  apiKey: string,
  onServing: (entry: AuditEntry) => void,
): Promise<Archived | undefined> => {
  const request = { apiKey, type: "SynthesisServed" };
  try {
    for await (const serving of audit(request)) onServing(serving);
    return undefined;
  } catch (error) {
    if (!(error instanceof Archived)) throw error;
    const months = error.archives.flatMap((archive) => archive.months).sort();
    const from = new Date(startOfMonth(months.at(-1) as string, 1)).toISOString();
    for await (const serving of audit({ ...request, from })) onServing(serving);
    return error;
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
