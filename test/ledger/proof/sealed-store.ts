import { systemTime } from "../../../src/async/time.ts";
import { createNoteSigner, createNoteVerifier } from "../../../src/domain/ledger/seals/note-signer.ts";
import type { NoteVerifier } from "../../../src/domain/ledger/seals/seal-note.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { postOnBehalf } from "../../../src/ledger/accounts/post-on-behalf.ts";
import { createAuditExport } from "../../../src/ledger/proof/audit-export.ts";
import {
  type VerifiedExport,
  type VerifyOptions,
  verifyExport,
} from "../../../src/ledger/proof/audit-verify.ts";
import { createSeals } from "../../../src/ledger/proof/seals.ts";
import { collect } from "../../support/collect.ts";
import { createJournalledLog } from "./journalled-log.ts";

export const signer = createNoteSigner("voxledger/test", Buffer.alloc(32, 7));

export const verifierOf = ({ verifierKey }: { readonly verifierKey: string }): NoteVerifier => {
  const key = createNoteVerifier(verifierKey);
  if (!key) throw new Error(`not a verifier key: ${verifierKey}`);
  return key;
};

export const keys = [verifierOf(signer)];

/** A log with its seals and exports. */
export const sealing = (store: EventStore, start?: string) => {
  const log = createJournalledLog(store, start);
  const seals = createSeals({
    store,
    signer,
    keys,
    clock: () => Date.parse(log.now()),
    requireMeasuredClock: async () => {},
  });
  const exportAudit = createAuditExport({ store, seals, signer });
  const clock = () => Date.parse(log.now());
  const onError = (what: string, cause: unknown): void => {
    throw new Error(what, { cause });
  };
  return {
    log,
    seals,
    /** Posts all entries of a closed journal. */
    post: (journal: string, closedRevision: number): Promise<void> =>
      postOnBehalf({ store, journal, clock, time: systemTime, onError }, closedRevision),
    exported: async (): Promise<Buffer> =>
      Buffer.from((await collect(exportAudit({ actor: "cli" }))).join("")),
  };
};

export const verify = (exported: Buffer, options: VerifyOptions = { keys }): Promise<VerifiedExport> =>
  verifyExport(() => inChunks(exported), options);

/** Chunks that end within lines. */
export async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  const size = 1_000;
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** A busy day: two journals, of which one is closed and retired, accounts, and three seals. */
export const writeBusyDay = async ({ log, seals, post }: ReturnType<typeof sealing>): Promise<void> => {
  await log.append("website-w1", "WebsiteRegistered", { websiteId: "w1", name: "example.com", origins: [] });
  const plan = { tier: "free", requestsPerMinute: 100, monthlyCharacters: null };
  await log.append("key-k1", "KeyIssued", { apiKey: "k1", websiteId: "w1", plan });
  await log.append("key-k1", "SecretCreated", { secretId: "s1", hash: "5ec2e7" });
  await log.append("rate-i1", "RequestsCounted", { minute: 1, keys: ["k1"], counts: [1] });
  await log.openJournal("j1");
  await log.serve("j1", "k1", [12, 30]);
  await seals.seal({ actor: "system" });
  await log.openJournal("j2");
  await log.serve("j2", "k1", [5]);
  await log.serve("j1", "k1", [7]);
  await log.close("j1");
  await post("j1", 2);
  await log.extend("j1", "JournalPosted", { through: 2 });
  await log.retire("j1");
  await log.append("key-k1", "KeySuspended", { cause: "operator", reason: "überfällig\u2028" });
  await seals.seal({ actor: "system" });
  await log.serve("j2", "k1", [6, 8, 9]);
  await log.append("key-k1", "KeyReinstated", { reason: "paid" });
  await seals.seal({ actor: "system" });
  await log.serve("j2", "k1", [60]);
};
