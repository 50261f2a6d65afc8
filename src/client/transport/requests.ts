import type { ApiRequest, ReadResponse, SendRequest } from "../api/http.ts";
import { type RetryOptions, withRetry } from "../api/retry.ts";
import type { Session } from "../api/session.ts";

/**
 * Makes an authenticated request, and repeats it where that helps; a token is replaced at most once.
 * @throws {VoxledgerError}
 */
export type AuthenticatedRequest = <T>(
  call: ApiRequest,
  read: ReadResponse<T>,
  signal: AbortSignal,
) => Promise<T>;

export const createAuthenticatedRequest =
  ({
    exchange,
    session,
    patience,
  }: {
    exchange: SendRequest;
    session: Session;
    patience: RetryOptions;
  }): AuthenticatedRequest =>
  (call, read, signal) => {
    let hasReplacedToken = false;

    const attempt = async (): ReturnType<typeof read> => {
      const credentials = await session.credentials(call);
      const reading: typeof read = (response, within) => {
        session.storeRenewedToken(response.headers);
        return read(response, within);
      };
      try {
        return await exchange(call, credentials, reading, signal);
      } catch (error) {
        if (hasReplacedToken) throw error;
        hasReplacedToken = await session.replaceTokenAfter(error, credentials.token);
        if (!hasReplacedToken) throw error;
        return await attempt();
      }
    };

    return withRetry(attempt, patience, signal);
  };

export const readJson = async <T>(response: Response): Promise<T> => (await response.json()) as T;
