import type { Api } from "./api.ts";

/** A page of OpenAI's usage API, as the service answers. */
interface UsagePage {
  readonly data: readonly {
    readonly start_time: number;
    readonly results: readonly {
      readonly characters: number;
      readonly num_model_requests: number;
      readonly api_key_id: string | null;
      readonly model: string | null;
    }[];
  }[];
  readonly next_page: string | null;
  readonly as_of: number;
}

export interface DailyUsage {
  /** The starts of the days, in Unix seconds. */
  readonly days: readonly number[];
  /** By engine or key: the characters of each day. */
  readonly characters: ReadonlyMap<string, readonly number[]>;
  readonly requests: number;
  /** Unix seconds. */
  readonly asOf: number;
}

export interface DailyUsageRequest {
  /** Unix seconds, at the start of a day. */
  readonly from: number;
  readonly groupBy: "model" | "api_key_id";
  readonly apiKeys?: readonly string[];
  readonly signal: AbortSignal;
}

/** The characters of each day up to today, by engine or key. */
export const readDailyUsage = async (
  api: Api,
  { from, groupBy, apiKeys, signal }: DailyUsageRequest,
): Promise<DailyUsage> => {
  const days: number[] = [];
  const characters = new Map<string, number[]>();
  let [requests, asOf] = [0, 0];
  let page: string | undefined;
  do {
    const query = {
      start_time: from,
      bucket_width: "1d",
      limit: 31,
      group_by: groupBy,
      page,
      ...(apiKeys && { api_key_ids: apiKeys }),
    };
    const answer = await api.get<UsagePage>("openai/v1/organization/usage/audio_speeches", { query, signal });
    for (const { start_time, results } of answer.data) {
      for (const result of results) {
        const name = result[groupBy] ?? "";
        const values = characters.get(name) ?? [];
        values[days.length] = result.characters;
        characters.set(name, values);
        requests += result.num_model_requests;
      }
      days.push(start_time);
    }
    asOf = answer.as_of;
    page = answer.next_page ?? undefined;
  } while (page !== undefined);
  for (const values of characters.values()) for (let day = 0; day < days.length; day++) values[day] ??= 0;
  return { days, characters, requests, asOf };
};

export const sumOf = (values: Iterable<number>): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};
