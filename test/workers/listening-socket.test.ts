import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect } from "chai";
import { bindListeningSocket } from "../../src/workers/listening-socket.ts";
import { rejection } from "../support/rejection.ts";

const host = "127.0.0.1";

/**
 * Resolves with the code of the error with which a connection is refused; with undefined if it is
 * accepted.
 */
const refusal = async (port: number): Promise<string | undefined> => {
  const connection = connect(port, host);
  try {
    await once(connection, "connect");
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    connection.destroy();
  }
};

describe("a listening socket of a primary", () => {
  it("is bound to a free port, and refuses connections until somebody listens on it", async () => {
    const socket = await bindListeningSocket(host, 0);
    expect(socket).to.include({ host }).and.have.property("port").above(0);
    expect(await refusal(socket.port)).to.equal("ECONNREFUSED");
    const server = createServer((connection) => connection.destroy()).listen({ fd: socket.fd });
    await once(server, "listening");
    expect((server.address() as AddressInfo).port).to.equal(socket.port);
    expect(await refusal(socket.port)).to.equal(undefined);
    server.close();
  });

  it("states the address of its host, also an IPv6 address", async () => {
    const socket = await bindListeningSocket("::1", 0);
    expect(socket.host).to.equal("::1");
    socket.close();
  });

  it("rejects an address that is in use, with the same error as a listening server", async () => {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const error = await rejection(bindListeningSocket(host, port));
    expect(error).to.include({
      code: "EADDRINUSE",
      message: `listen EADDRINUSE: address already in use ${host}:${port}`,
    });
    server.close();
  });

  it("frees its address when it is closed, and can be closed twice", async () => {
    const socket = await bindListeningSocket(host, 0);
    socket.close();
    socket.close();
    const server = createServer().listen(socket.port, host);
    await once(server, "listening");
    server.close();
  });
});
