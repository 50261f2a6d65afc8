import { Voxledger, type VoxledgerConfig } from "../voxledger.ts";

/** A client that components with the same options share: only one of them speaks at a time. */
export interface SharedClient {
  readonly voxledger: Voxledger;
  /** Closes the client if no other component uses it. */
  release(): void;
}

interface Entry {
  readonly voxledger: Voxledger;
  users: number;
}

const clients = new Map<string, Entry>();

/** Configurations are the same if they differ only in their order, or in flags that are off. */
const keyOf = (config: VoxledgerConfig): string =>
  JSON.stringify(
    Object.entries(config)
      .filter(([, value]) => value !== undefined && value !== false)
      .toSorted(),
  );

/** @throws {TypeError} for invalid options */
export const shareClient = (config: VoxledgerConfig): SharedClient => {
  const key = keyOf(config);
  const entry = clients.get(key) ?? { voxledger: new Voxledger(config), users: 0 };
  clients.set(key, entry);
  entry.users += 1;
  let isReleased = false;
  return {
    voxledger: entry.voxledger,
    release: () => {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      if (entry.users > 0) return;
      clients.delete(key);
      entry.voxledger.close();
    },
  };
};
