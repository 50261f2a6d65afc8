import { Voxledger, type VoxledgerConfig } from "../voxledger.ts";

/** A client that components with the same options share: only one of them speaks at a time. */
export interface SharedClient {
  readonly voxledger: Voxledger;
  /** Closes the client if nobody else uses it. */
  release(): void;
}

interface Entry {
  readonly voxledger: Voxledger;
  users: number;
}

const clients = new Map<string, Entry>();

/** @throws {TypeError} for invalid options */
export const shareClient = (config: VoxledgerConfig): SharedClient => {
  const key = JSON.stringify(Object.entries(config).toSorted());
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
