import { createReconnectingClient, type ReconnectingClient } from "./reconnecting-client.ts";

interface Shared {
  readonly kept: ReconnectingClient;
  users: number;
}

const clients = new Map<string, Shared>();

/**
 * The process's one client for appends to a server, for all that open it. The client keeps what waits for an answer in one
 * place for the whole process (6.2.1, `promiseBank`): trouble of one would reject the appends of another, whose answers would
 * then come as exceptions that nobody can catch.
 */
export const sharedAppendingClient = (url: string): Pick<ReconnectingClient, "call" | "close"> => {
  const shared = clients.get(url) ?? { kept: createReconnectingClient(url), users: 0 };
  clients.set(url, shared);
  shared.users += 1;
  let left = false;
  return {
    call: shared.kept.call,
    close: async () => {
      if (left) return;
      left = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      clients.delete(url);
      await shared.kept.close();
    },
  };
};
