import { VoxledgerError } from "./errors.ts";
import type { Call, Exchange } from "./exchange.ts";
import { type Patience, retrying } from "./retry.ts";
import type { Session } from "./session.ts";

/** Makes an authenticated request, and again where that helps. @throws {VoxledgerError} */
export type Request = <T>(
  call: Call,
  read: (response: Response) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;

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
    const reading = (response: Response) => {
      session.adoptRenewed(response.headers);
      return read(response);
    };
    const headers = await session.headers();
    try {
      return await exchange(call, headers, reading, signal);
    } catch (error) {
      const refused = error instanceof VoxledgerError && error.status === 401;
      if (!refused || !(await session.replace(headers))) throw error;
      return await exchange(call, await session.headers(), reading, signal);
    }
  };
  return (call, read, signal) => retrying(() => attempt(call, read, signal), patience, signal);
};

export const readJson = async <T>(response: Response): Promise<T> => (await response.json()) as T;
