import { expect } from "chai";
import type { Credentials } from "./client.ts";
import { type ClientCall, errorOf, type Outcome, pythonClient, resultOf } from "./python-client.ts";

/** The body of ElevenLabs' errors. */
interface Refusal {
  readonly detail: { readonly status: string; readonly message: string };
}

export type ElevenLabsClient = ReturnType<typeof elevenLabsClient>;

/** ElevenLabs' client for Python. The caller is `website` unless a call names another one. */
export const elevenLabsClient = (url: string, website: Credentials) => {
  const client = pythonClient<Refusal>("elevenlabs", `${url}/elevenlabs`);
  const outcomes = <Result>(calls: readonly ClientCall[], as = website) => client.outcomes<Result>(calls, as);
  const results = async <Result>(calls: readonly ClientCall[], as?: Credentials): Promise<Result[]> =>
    (await outcomes<Result>(calls, as)).map(resultOf);
  return {
    outcomes,
    results,
    call: async <Result>(method: string, args: object = {}, as?: Credentials): Promise<Result> =>
      (await results<Result>([{ method, args }], as))[0] as Result,
    refusal: async (method: string, args: object = {}, as?: Credentials) =>
      refusalIn((await outcomes([{ method, args }], as))[0]),
    close: client.close,
  };
};

/** The error that a call raised. */
export const refusalIn = (outcome: Outcome<unknown, Refusal> | undefined) => {
  const { type, status, body } = errorOf(outcome);
  expect(body.detail.message).to.be.a("string").and.to.not.equal("");
  return { type, status, code: body.detail.status };
};
