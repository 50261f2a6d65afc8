import { lookup } from "node:dns/promises";
import net from "node:net";
import { getSystemErrorMap } from "node:util";

/** A socket that is bound in the primary, and on which workers listen by its file descriptor. */
export interface ListeningSocket {
  /** The descriptor in this process. A worker inherits a copy, which stays open after `close`. */
  readonly fd: number;
  readonly host: string;
  readonly port: number;
  close(): void;
}

/**
 * What `net._createServerHandle` returns, which binds a socket without accepting connections. The
 * function is undocumented, but `node:cluster` itself calls it.
 */
interface BoundHandle {
  readonly fd: number;
  /** Returns 0 or the number of an error. */
  getsockname(bound: { address: string; port: number }): number;
  close(): void;
}
const { _createServerHandle: bindHandle } = net as unknown as {
  readonly _createServerHandle: (address: string, port: number, family: number) => BoundHandle | number;
};

/**
 * Binds a socket that outlives all workers: the primary holds it, so connections wait in its
 * backlog while no worker accepts them. `node:cluster` would close its shared handle when the last
 * worker ends, and a `net.Server` of the primary would accept connections itself. Connections are
 * refused until the first worker listens on the socket.
 * @throws EADDRINUSE or EACCES, or an error of the look-up of the host
 */
export const bindListeningSocket = async (host: string, port: number): Promise<ListeningSocket> => {
  const { address, family } = await lookup(host);
  const handle = bindHandle(address, port, family);
  if (typeof handle === "number") throw bindError(handle, address, port);
  const bound = { address, port };
  const failed = handle.getsockname(bound); // libuv reports EADDRINUSE only here
  if (failed !== 0) {
    handle.close();
    throw bindError(failed, address, port);
  }
  return { fd: handle.fd, host: bound.address, port: bound.port, close: () => handle.close() };
};

const bindError = (code: number, address: string, port: number): Error => {
  const [name = "UNKNOWN", text = ""] = getSystemErrorMap().get(code) ?? [];
  return Object.assign(new Error(`listen ${name}: ${text} ${address}:${port}`), { code: name });
};
