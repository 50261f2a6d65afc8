import { join } from "node:path";
import type { Credentials } from "./client.ts";
import { openPython } from "./python.ts";

const script = join(import.meta.dirname, "call-client.py");

/** A call of a client's method. */
export interface ClientCall {
  /** A path below the client: `text_to_speech.convert`. */
  readonly method: string;
  readonly args?: object;
  /** The number of chunks after which a stream is left. */
  readonly take?: number;
}

/** What a call returned or raised. `Body`: what the client makes of an error's body. */
export type Outcome<Result, Body = unknown> =
  | { readonly result: Result }
  | { readonly error: { readonly type: string; readonly status: number; readonly body: Body } };

/** Audio as bytes. */
export interface AudioResult {
  /** In base64. */
  readonly audio: string;
  readonly chunks: number;
}

/**
 * A client for Python, unmodified, with the base URL of a compatible API. `Body` as in `Outcome`.
 */
export const pythonClient = <Body>(client: "elevenlabs" | "openai", baseUrl: string) => {
  const python = openPython(script);
  return {
    /** Makes the calls one after the other. Errors of the API are outcomes. */
    outcomes: <Result>(
      calls: readonly ClientCall[],
      { apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">,
    ): Promise<Outcome<Result, Body>[]> =>
      python.ask({
        client,
        base_url: baseUrl,
        api_key: `${apiKey}.${apiSecret}`,
        calls: calls.map((call) => ({ args: {}, ...call })),
      }),
    close: python.close,
  };
};

/** @throws {Error} if the call raised an error */
export const resultOf = <Result>(outcome: Outcome<Result> | undefined): Result => {
  if (outcome && "result" in outcome) return outcome.result;
  throw new Error(`The call failed: ${JSON.stringify(outcome)}`);
};

/** @throws {Error} if the call raised no error */
export const errorOf = <Body>(outcome: Outcome<unknown, Body> | undefined) => {
  if (outcome && "error" in outcome) return outcome.error;
  throw new Error("The call was not refused.");
};
