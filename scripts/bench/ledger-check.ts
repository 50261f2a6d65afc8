import { admin, type Credentials } from "../../test/support/client.ts";

const timeoutMs = 5_000;

/**
 * Compares the ledger with the received responses: it has all of them, and in addition
 * at most the requests that were in flight (`cutOff`) when the load ended.
 * @throws if it differs
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
