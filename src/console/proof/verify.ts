import {
  type KeyMonth,
  type KeyMonthSummary,
  verifyKeyMonth,
} from "../../domain/ledger/proof/key-month-verifier.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import { createDeferredVerifiers } from "./deferred-verifiers.ts";

export type Verdict =
  | { readonly status: "genuine"; readonly summary: KeyMonthSummary; readonly isSigned: boolean }
  /** `problem` names the first bad event. */
  | { readonly status: "not genuine"; readonly problem: string };

export interface Verification extends KeyMonth {
  /** Of `/.well-known/voxledger-seal.pub`. */
  readonly verifierKeys: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly onProgress?: (progress: { bytes: number; streams: ReadonlyMap<string, number> }) => void;
}

/** Verifies the export of a key's month. @throws the errors of `chunks` */
export const verify = async ({
  verifierKeys,
  chunks,
  onProgress = () => {},
  ...keyMonth
}: Verification): Promise<Verdict> => {
  const verifiers = createDeferredVerifiers(verifierKeys);
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  try {
    const summary = await verifyKeyMonth(counted(), verifiers.keys, keyMonth, (streams) =>
      onProgress({ bytes, streams }),
    );
    const outcome = await verifiers.check();
    if (outcome !== "wrong") return { status: "genuine", summary, isSigned: outcome === "verified" };
    return { status: "not genuine", problem: "a signature is not one of the seal's public key" };
  } catch (error) {
    if (error instanceof NotGenuine) return { status: "not genuine", problem: error.message };
    throw error;
  }
};
