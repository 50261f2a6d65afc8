import { type Charge, chargesOf } from "../../domain/ledger/journal/charges.ts";
import { monthOf, monthsBetween } from "../../domain/ledger/month.ts";
import { beginCharges, type ChargesSource, type SummedUp, type Use } from "../accounts/read-charges.ts";

export interface ChargesRequest {
  readonly apiKeys: readonly string[];
  /** Selects only charges of servings from this time on. */
  readonly fromInclusive: number;
  /** Selects only charges of servings before this time. */
  readonly toExclusive: number;
  /** Only entries that were recorded up to this time count. */
  readonly asOf: number;
  /**
   * True if a posting's charges of a day may be given as one sum, at the day's midnight. This
   * applies to days that lie completely between the times.
   */
  readonly byDay: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Receives each charge once, in no particular order, or sums of charges. */
type OnCharge = (charge: Charge) => void;

/**
 * Reads the charges of keys between two times.
 * @throws {EventStoreUnavailable}
 */
export type ReadCharges = (request: ChargesRequest, onCharge: OnCharge) => Promise<void>;

const dayMs = 86_400_000;
/** The clocks of two instances differ by less than this. */
const toleranceMs = 300_000;

export const createChargeReader =
  (source: ChargesSource): ReadCharges =>
  async (request, onCharge) => {
    const { apiKeys, fromInclusive, toExclusive, asOf, signal } = request;
    const months = monthsOf(request);
    const accounts = apiKeys.flatMap((apiKey) => months.map((month) => ({ apiKey, month })));
    const reading = await beginCharges(source, accounts);
    await reading.read({
      asOf: { time: asOf },
      signal,
      useOf: (summedUp) => useOf(summedUp, request),
      onSums: ({ cells }, { apiKey }) => {
        for (const { day, engine, requests, characters } of cells) {
          if (placeOf(Date.parse(day), request) === "inside")
            onCharge({ apiKey, servedAt: `${day}T00:00:00.000Z`, engine, requests, characters });
        }
      },
      onEvent: (event, neededBy) => {
        for (const charge of chargesOf(event)) {
          const { apiKey, servedAt } = charge;
          const at = Date.parse(servedAt);
          if (fromInclusive <= at && at < toExclusive && neededBy(apiKey, monthOf(servedAt)))
            onCharge(charge);
        }
      },
    });
  };

/** The months of the servings. */
const monthsOf = ({ fromInclusive, toExclusive, asOf }: ChargesRequest): string[] => {
  const toInclusive = Math.max(fromInclusive, Math.min(toExclusive - 1, asOf));
  return monthsBetween(
    monthOf(new Date(fromInclusive).toISOString()),
    monthOf(new Date(toInclusive).toISOString()),
  );
};

/**
 * If no entry was voided, the cells name every day that has an entry. Otherwise a day is missing
 * if its entries add up to nothing.
 */
const useOf = ({ sums, at, isWhole }: SummedUp, request: ChargesRequest): Use => {
  const { byDay, fromInclusive } = request;
  // Earlier postings have only entries that are earlier still.
  if (Date.parse(at) < fromInclusive - toleranceMs) return "end";
  if (Date.parse(sums.until) < fromInclusive) return "nothing";
  const hasVoids = sums.voided.requests !== 0 || sums.voided.characters !== 0;
  const places = new Set(sums.cells.map(({ day }) => placeOf(Date.parse(day), request)));
  if (!hasVoids && !places.has("inside") && !places.has("partly")) return "nothing";
  const isExact = byDay && isWhole && (hasVoids ? hasWholeDays(request) : !places.has("partly"));
  return isExact ? "sums" : "entries";
};

const hasWholeDays = ({ fromInclusive, toExclusive, asOf }: ChargesRequest): boolean =>
  fromInclusive % dayMs === 0 && (toExclusive % dayMs === 0 || toExclusive > asOf);

/**
 * Says whether a day lies inside the requested times. If these end after `asOf`, their last day
 * counts as inside, because no later entry is included.
 */
const placeOf = (
  day: number,
  { fromInclusive, toExclusive, asOf }: ChargesRequest,
): "inside" | "outside" | "partly" => {
  if (day + dayMs <= fromInclusive || day >= toExclusive) return "outside";
  return day >= fromInclusive && (day + dayMs <= toExclusive || toExclusive > asOf) ? "inside" : "partly";
};
