import type { Call, Exchange, Read } from "../api/http.ts";
import { type Patience, retrying } from "../api/retry.ts";
import type { Session } from "../api/session.ts";

/**
 * Makes an authenticated request, and repeats it where that helps; a token is replaced at most once.
 * @throws {VoxledgerError}
 */
export type Request = <T>(call: Call, read: Read<T>, signal: AbortSignal) => Promise<T>;

export const createRequest =
  ({ exchange, session, patience }: { exchange: Exchange; session: Session; patience: Patience }): Request =>
  (call, read, signal) => {
    let hasReplacedToken = false;

    const attempt = async (): ReturnType<typeof read> => {
      const credentials = await session.credentials(call);
      const reading: typeof read = (response, within) => {
        session.adoptRenewed(response.headers);
        return read(response, within);
      };
      try {
        return await exchange(call, credentials, reading, signal);
      } catch (error) {
        if (hasReplacedToken) throw error;
        hasReplacedToken = await session.replaceAfter(error, credentials.token);
        if (!hasReplacedToken) throw error;
        return await attempt();
      }
    };

    return retrying(attempt, patience, signal);
  };

export const readJson = async <T>(response: Response): Promise<T> => (await response.json()) as T;
