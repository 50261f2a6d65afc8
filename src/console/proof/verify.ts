import {
  type KeyMonth,
  type KeyMonthSummary,
  verifyKeyMonth,
} from "../../domain/ledger/proof/key-month-verifier.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import { parseVerifierKey } from "../../domain/ledger/seals/seal-note.ts";

export type Verdict =
  | { readonly status: "genuine"; readonly summary: KeyMonthSummary; readonly isSigned: boolean }
  /** `problem` names the first bad event. */
  | { readonly status: "not genuine"; readonly problem: string };

export interface Verification extends KeyMonth {
  /** The text of `/.well-known/voxledger-seal.pub`. */
  readonly verifierKeys: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly onProgress?: (progress: { bytes: number; streams: ReadonlyMap<string, number> }) => void;
}

/**
 * Verifies the export of a key's month.
 * @throws the errors of `chunks`
 */
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

export type Subtle = Pick<typeof globalThis.crypto.subtle, "importKey" | "verify">;

/**
 * The ledger's rules are synchronous and WebCrypto is not: signatures are collected first and
 * verified at the end.
 */
export const createDeferredVerifiers = (
  verifierKeys: string,
  subtle: Subtle | undefined = globalThis.crypto?.subtle,
) => {
  const collected: { publicKey: Uint8Array; text: Uint8Array; signature: Uint8Array }[] = [];
  const parsed = verifierKeys.split("\n").flatMap((line) => parseVerifierKey(line) ?? []);
  const verifyOne = async ({ publicKey, text, signature }: (typeof collected)[number]): Promise<boolean> => {
    if (!subtle) throw new DOMException("no WebCrypto", "NotSupportedError");
    const key = await subtle.importKey("raw", Uint8Array.from(publicKey), "Ed25519", false, ["verify"]);
    return await subtle.verify("Ed25519", key, Uint8Array.from(signature), Uint8Array.from(text));
  };
  return {
    /** Verifiers that accept every signature, and keep it for `check`. */
    keys: parsed.map((key) => ({
      ...key,
      verify: (text: Uint8Array, signature: Uint8Array): boolean => {
        collected.push({ publicKey: key.publicKey, text, signature });
        return true;
      },
    })),
    /**
     * Verifies all signatures that were accepted. `no Ed25519`: the browser lacks it, so none was
     * verified.
     */
    check: async (): Promise<"verified" | "wrong" | "no Ed25519"> => {
      try {
        const results = await Promise.all(collected.map(verifyOne));
        return results.length > 0 && results.every(Boolean) ? "verified" : "wrong";
      } catch (error) {
        if (error instanceof DOMException && error.name === "NotSupportedError") return "no Ed25519";
        throw error;
      }
    },
  };
};
