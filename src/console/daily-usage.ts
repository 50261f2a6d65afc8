import type { Api } from "./api.ts";

/** A page of the service's response, in the form of OpenAI's usage API. */
interface UsagePage {
  readonly data: readonly {
    readonly results: readonly {
      readonly characters: number;
      readonly api_key_id: string | null;
    }[];
  }[];
  readonly next_page: string | null;
  readonly as_of: number;
}

export interface DailyUsage {
  /** The characters of each day, by key. */
  readonly characters: ReadonlyMap<string, readonly number[]>;
  /** Unix seconds. */
  readonly asOf: number;
}

interface DailyUsageRequest {
  /** Unix seconds, at the start of a day. */
  readonly from: number;
  readonly apiKeys: readonly string[];
  readonly signal: AbortSignal;
}

/** The characters of each day up to today, by key. */
export const readDailyUsage = async (
  api: Api,
  { from, apiKeys, signal }: DailyUsageRequest,
): Promise<DailyUsage> => {
  const characters = new Map<string, number[]>();
  let [days, asOf] = [0, 0];
  let page: string | undefined;
  do {
    const query = {
      start_time: from,
      bucket_width: "1d",
      limit: 31,
      group_by: "api_key_id",
      page,
      api_key_ids: apiKeys,
    };
    const response = await api.get<UsagePage>("openai/v1/organization/usage/audio_speeches", {
      query,
      signal,
    });
    for (const { results } of response.data) {
      for (const { api_key_id, characters: ofDay } of results) {
        const values = characters.get(api_key_id ?? "") ?? [];
        values[days] = ofDay;
        characters.set(api_key_id ?? "", values);
      }
      days += 1;
    }
    asOf = response.as_of;
    page = response.next_page ?? undefined;
  } while (page !== undefined);
  for (const values of characters.values()) for (let day = 0; day < days; day++) values[day] ??= 0;
  return { characters, asOf };
};

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
