import type { Serving } from "../domain/ledger/journal/serving.ts";
import { Admissions, type AdmissionsOptions } from "./admissions.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { Admission, Ledger, RecordCallback } from "./ledger.ts";
import { createRecordOnce } from "./record-once.ts";
import { type Charge, hasIdempotencyKey, Recorder, type RecorderOptions } from "./recorder.ts";

type LedgerOptions = AdmissionsOptions & Omit<RecorderOptions, "admissions" | "background">;

export const createLedger = (options: LedgerOptions, background: BackgroundTasks): Ledger => {
  const admissions = new Admissions(options, background);
  const recorder = new Recorder({ ...options, admissions, background });
  return {
    record: (principal, served, done, admission) => {
      const serving: Serving = { ...served, apiKey: principal.apiKey };
      const charge: Charge = { principal, hold: admission?.hold };
      const recorded = admission ? endingWith(admission, done) : done;
      if (!(serving.partial || hasIdempotencyKey(serving))) return recorder.record(charge, serving, recorded);
      recorder.recordAfterReads(charge, serving, admission?.claim !== undefined).then(
        (receipt) => recorded(undefined, receipt),
        (error) => recorded(error, undefined),
      );
    },
    recordOnce: createRecordOnce({ ...options, admissions, recorder }),
    recordStreamEnd: ({ serving: { apiKey, requestId } }, ended) =>
      recorder.addInBackground((writer) => writer.addStreamEnd({ apiKey, requestId, ...ended })),
    voidServing: (receipt) => recorder.voidServing(receipt),
    recordLost: (voids, streams) => {
      if (voids.length > 0) recorder.addInBackground((writer) => writer.addVoids(voids));
      for (const end of streams) recorder.addInBackground((writer) => writer.addStreamEnd(end));
    },
    admit: (...request) => admissions.admit(...request),
    wasChargedByAny: (apiKey, hashes) => recorder.wasChargedByAny(apiKey, hashes),
    wasCharged: (apiKey, hash) => options.recentCharges.wasCharged(apiKey, hash),
    get backgroundEntries() {
      return background.pending + options.sessions.backgroundEntries;
    },
    drained: background.drained,
    close: background.close,
  };
};

const endingWith =
  (admission: Admission, done: RecordCallback): RecordCallback =>
  (error, receipt) => {
    if (error) admission.release();
    else admission.claim?.charged();
    done(error, receipt);
  };
