import { VoxledgerError } from "./errors.ts";
import type { Call, Exchange, Read } from "./exchange.ts";
import { type Patience, retrying } from "./retry.ts";
import { bearerIn, type Session } from "./session.ts";

/** Makes an authenticated request, and again where that helps. @throws {VoxledgerError} */
export type Request = <T>(call: Call, read: Read<T>, signal: AbortSignal) => Promise<T>;

export const createRequest = ({
  exchange,
  session,
  patience,
}: {
  exchange: Exchange;
  session: Session;
  patience: Patience;
}): Request => {
  const attempt: Request = async (call, read, signal) => {
    const reading: typeof read = (response, within) => {
      session.adoptRenewed(response.headers);
      return read(response, within);
    };
    const headers = await session.headers();
    try {
      return await exchange(call, headers, reading, signal);
    } catch (error) {
      const refused = error instanceof VoxledgerError && error.status === 401;
      if (!refused || !(await session.replace(bearerIn(headers)))) throw error;
      return await exchange(call, await session.headers(), reading, signal);
    }
  };
  return (call, read, signal) => retrying(() => attempt(call, read, signal), patience, signal);
};

export const readJson = async <T>(response: Response): Promise<T> => (await response.json()) as T;
