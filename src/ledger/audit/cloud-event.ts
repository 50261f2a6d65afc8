import { voidedCharge } from "../../domain/ledger/journal/charges.ts";
import { journalPrefix } from "../../domain/ledger/journal/journal.ts";
import type { Serving, VoidedServing } from "../../domain/ledger/journal/serving.ts";
import type { AuditEntry } from "./audit-entries.ts";

/**
 * A charge as an event of CloudEvents 1.0, for usage meters. A meter that sums `data.characters`
 * and `data.requests` by `subject` and `time` gets the totals of the usage reports.
 */
export interface UsageCloudEvent {
  readonly specversion: "1.0";
  /** The same in every export: receivers deduplicate by `source` and `id`. */
  readonly id: string;
  /** The journal that holds the charge, as a URN. */
  readonly source: string;
  readonly type: typeof usageEventType;
  /** The API key. */
  readonly subject: string;
  /**
   * The time of the serving, also in the event of its void, because this time decides the month.
   * ISO 8601, UTC.
   */
  readonly time: string;
  readonly datacontenttype: "application/json";
  /**
   * An extension attribute: the `<position>.<index>` with which an interrupted export is continued.
   */
  readonly place: string;
  readonly data: UsageCharge;
}

/** A void has the numbers of the charge that it takes back, negated, and the same request id. */
interface UsageCharge {
  readonly characters: number;
  readonly requests: number;
  readonly engine: string;
  readonly voice: string;
  readonly requestId: string;
  /** The reason and time of a void. Absent for servings. */
  readonly voided?: { readonly reason: VoidedServing["reason"]; readonly at: string };
}

export const usageEventType = "voxledger.usage";

/** Returns undefined for entries that charge nothing. */
export const usageCloudEvent = (entry: AuditEntry): UsageCloudEvent | undefined => {
  const { id, index, position, stream } = entry;
  if (!stream.startsWith(journalPrefix)) return undefined;
  const charge = chargeOf(entry);
  return (
    charge && {
      specversion: "1.0",
      id: `${id}.${index}`,
      source: `urn:uuid:${stream.slice(journalPrefix.length)}`,
      type: usageEventType,
      ...charge,
      datacontenttype: "application/json",
      place: `${position}.${index}`,
    }
  );
};

const chargeOf = ({
  type,
  at,
  data,
}: AuditEntry): Pick<UsageCloudEvent, "subject" | "time" | "data"> | undefined => {
  if (type === "SynthesisServed") {
    const { apiKey, characters, engine, voice, requestId } = data as Serving;
    return { subject: apiKey, time: at, data: { characters, requests: 1, engine, voice, requestId } };
  }
  if (type === "ServingVoided") {
    const serving = data as VoidedServing;
    const { voice, requestId, reason } = serving;
    const { apiKey, servedAt, characters, requests, engine } = voidedCharge(serving);
    const voided = { reason, at };
    return {
      subject: apiKey,
      time: servedAt,
      data: { characters, requests, engine, voice, requestId, voided },
    };
  }
  return undefined;
};
