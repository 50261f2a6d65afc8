import { parseVerifierKey } from "../../domain/ledger/seals/seal-note.ts";

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
    /** They accept every signature, and keep it for `check`. */
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
