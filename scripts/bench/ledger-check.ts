import { admin, type Credentials } from "../../test/support/client.ts";

const timeoutMs = 5_000;

/**
 * Holds the ledger to what was served: no answer is missing from it, and beyond the answers that were received it holds
 * at most those that were under way (`cutOff`) when the load ended.
 * @throws when it does not
 */
export const checkLedger = async (
  url: string,
  { apiKey }: Credentials,
  { served, cutOff }: { served: number; cutOff: number },
): Promise<void> => {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const { body } = await admin(url, "GET", `/keys/${apiKey}/usage`);
    const recorded = Number(body.requests);
    if (recorded >= served && recorded <= served + cutOff) return;
    if (recorded > served + cutOff || Date.now() > deadline)
      throw new Error(`${served} answers were received, but the ledger holds ${recorded}`);
  }
};
