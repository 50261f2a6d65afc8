import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";

const timeoutMs = 2_000;
const defaultPort = 2113;

/**
 * Why Node.js refuses the certificate of a server that the connection string names (`self-signed certificate`,
 * `certificate has expired`, …), or undefined. The gRPC client and its discovery tell only that no connection was made.
 */
export const certificateProblem = async (url: string): Promise<string | undefined> => {
  const { servers, authority } = await partsOf(url);
  const problems = await Promise.all(servers.map((server) => problemAt(server, authority)));
  return problems.find((problem) => problem !== undefined);
};

interface Server {
  readonly host: string;
  readonly port: number;
}

const partsOf = async (url: string): Promise<{ servers: Server[]; authority: Buffer | undefined }> => {
  const [, hosts = "", query = ""] =
    /^esdb(?:\+discover)?:\/\/(?:[^@/]*@)?([^/?]*)[^?]*\??(.*)$/.exec(url) ?? [];
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  if (options.get("tls") === "false") return { servers: [], authority: undefined };
  const file = options.get("tlscafile");
  const authority = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  const servers = hosts.split(",").map((one) => {
    const { hostname, port } = new URL(`esdb://${one}`);
    return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? defaultPort : Number(port) };
  });
  return { servers, authority };
};

const problemAt = ({ host, port }: Server, authority: Buffer | undefined): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket: TLSSocket = connect({
      host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ["h2"],
      ...(authority && { ca: authority }),
    });
    const settle = (problem?: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(timeoutMs, settle);
    socket.on("secureConnect", () => settle());
    socket.on("error", (error: NodeJS.ErrnoException) => settle(wordsFor(error)));
  });

/** OpenSSL's codes for certificates (https://nodejs.org/api/tls.html#x509-certificate-error-codes); the words name no host. */
const wordsFor = ({ code = "", message }: NodeJS.ErrnoException): string | undefined => {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "it is for another host";
  return /CERT|SIGNATURE|CRL|_CA$|ISSUER|CHAIN/.test(code) ? message.split(";")[0] : undefined;
};
