import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AdminSession } from "../http/kernel/request-state.ts";
import type { Api } from "./api.ts";

/** A message that is shown once at the top, with an action that undoes the change. */
export interface Notice {
  readonly text: string;
  readonly undo?: () => Promise<unknown>;
}

/** The signed-in person. */
export interface Session extends AdminSession {
  readonly api: Api;
  signOut(message?: string): void;
  notify(notice: Notice): void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** @throws outside of the signed-in part of the page */
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (!session) throw new Error("There is no session.");
  return session;
};

/** Operators may change something, auditors may only read. */
export const useMayChange = (): boolean => useSession().role === "operator";

/** The session, with a function that sends a change to the service and then calls `onChange`. */
export const useChange = (onChange: () => void) => {
  const session = useSession();
  const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await session.api.send<T>(method, path, body);
    onChange();
    return response;
  };
  return { ...session, send };
};

const storageKey = "voxledger.token";

/** Access to the storage throws where the browser forbids it. */
const ifAllowed = <T>(access: () => T): T | undefined => {
  try {
    return access();
  } catch {
    return undefined;
  }
};

/**
 * The token of a person who asked to stay signed in for this tab. Otherwise it is only in memory,
 * and a reload signs out.
 */
export const storedToken = {
  read: (): string | null | undefined => ifAllowed(() => sessionStorage.getItem(storageKey)),
  keep: (token: string): void => ifAllowed(() => sessionStorage.setItem(storageKey, token)),
  remove: (): void => ifAllowed(() => sessionStorage.removeItem(storageKey)),
};
