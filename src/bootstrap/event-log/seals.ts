import { createNoteSigner } from "../../domain/ledger/seals/note-signer.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { createKeyMonthExport } from "../../ledger/proof/key-month-export.ts";
import { createSeals } from "../../ledger/proof/seals.ts";
import type { Settings } from "../../settings.ts";
import { deriveKeys, type MasterKeys } from "../master-key.ts";
import { parseSealKeys, recordSealKeys } from "./seal-keys.ts";

export type Sealer = Awaited<ReturnType<typeof composeSeals>>;

/**
 * Seals are signed with SEAL_KEY, or else with a key that is derived from the master key, in the
 * name of the log.
 * @throws {BadSetting}
 */
export const composeSeals = async (
  { sealKey, dataDir }: Pick<Settings, "sealKey" | "dataDir">,
  {
    storeAsWritten,
    logId,
    masterKeys,
    clock,
    requireMeasuredClock,
  }: {
    /** Events as stored. */
    readonly storeAsWritten: EventStore;
    readonly logId: string;
    readonly masterKeys: MasterKeys;
    readonly clock: () => number;
    readonly requireMeasuredClock: () => Promise<void>;
  },
) => {
  const name = `voxledger/${logId}`;
  const [seed, ...previous] = sealKey ? [sealKey] : deriveKeys(masterKeys, "seal");
  const signer = createNoteSigner(name, seed);
  const earlier = previous.map((key) => createNoteSigner(name, key).verifierKey);
  const lines = await recordSealKeys(dataDir, [signer.verifierKey, ...earlier]);
  const seals = createSeals({
    store: storeAsWritten,
    signer,
    keys: parseSealKeys(lines),
    clock,
    requireMeasuredClock,
  });
  /** The verifier keys of this installation, one per line. The first is the current one. */
  const verifierKeys = `${lines.join("\n")}\n`;
  const exportKeyMonth = createKeyMonthExport({ store: storeAsWritten, seals, signer, clock });
  return { seals, signer, verifierKeys, exportKeyMonth };
};
