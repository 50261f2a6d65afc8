import { lookup } from "node:dns/promises";
import net from "node:net";
import { getSystemErrorMap } from "node:util";

/** A socket that is bound in the primary, and on which workers listen by its file descriptor. */
export interface ListeningSocket {
  /** Of this process. A worker inherits it. */
  readonly fd: number;
  readonly host: string;
  readonly port: number;
  close(): void;
}

/** Binds without accepting; undocumented, but what `node:cluster` itself calls. */
interface BoundHandle {
  readonly fd: number;
  getsockname(address: { address?: string; port?: number }): number;
  close(): void;
}
const { _createServerHandle: bindHandle } = net as unknown as {
  readonly _createServerHandle: (address: string, port: number, family: number) => BoundHandle | number;
};

/**
 * Binds a socket that outlives all workers: the primary holds it, so connections wait in its
 * backlog while no worker accepts them. `node:cluster` would close its shared handle when the last
 * worker ends, and a `net.Server` of the primary would accept connections itself. The first worker
 * that listens on it makes it accept connections.
 * @throws EADDRINUSE or EACCES, or an error of the look-up of the host
 */
export const bindListeningSocket = async (host: string, port: number): Promise<ListeningSocket> => {
  const { address, family } = await lookup(host);
  const handle = bindHandle(address, port, family);
  if (typeof handle === "number") throw bindError(handle, address, port);
  const bound: { address?: string; port?: number } = {};
  handle.getsockname(bound);
  return {
    fd: handle.fd,
    host: bound.address ?? address,
    port: bound.port ?? port,
    close: () => handle.close(),
  };
};

const bindError = (code: number, address: string, port: number): Error => {
  const [name = "UNKNOWN", text = ""] = getSystemErrorMap().get(code) ?? [];
  return Object.assign(new Error(`listen ${name}: ${text} ${address}:${port}`), { code: name });
};
