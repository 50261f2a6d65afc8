import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { EventStoreUnavailable } from "../event-store.ts";
import { hasTls, optionsOf, serversOf } from "./connection-string.ts";
import { CertificateRefused, CredentialsRefused, WrongTls } from "./errors.ts";

const handshakeTimeoutMs = 2_000;

/**
 * Finds out why a failed attempt made no connection, with a TLS handshake of its own: the gRPC
 * client and its discovery report only that no connection was made.
 * @throws {CertificateRefused} if Node.js refuses the certificate of a server (`self-signed
 * certificate`, `certificate has expired`, …)
 * @throws {WrongTls} if only one of the two sides uses TLS
 * @throws what the attempt throws, in all other cases
 */
export const explainConnection = async <T>(url: string, attempt: Promise<T>): Promise<T> => {
  try {
    return await attempt;
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable) || error instanceof CredentialsRefused) throw error;
    throw (await problemOf(url, error)) ?? error;
  }
};

const problemOf = async (url: string, cause: Error): Promise<EventStoreUnavailable | undefined> => {
  const file = optionsOf(url).get("tlscafile");
  const authority = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  const handshakes = await Promise.all(serversOf(url).map((server) => shakeHands(server, authority)));
  if (!hasTls(url))
    return handshakes.some(({ hasTls }) => hasTls)
      ? new WrongTls("the event store expects TLS: remove tls=false", { cause })
      : undefined;
  const [refusal] = handshakes.flatMap(({ refusal = [] }) => refusal);
  if (refusal !== undefined) return new CertificateRefused(refusal, { cause });
  return handshakes.some(({ isPlain }) => isPlain)
    ? new WrongTls("the event store does not use TLS: add tls=false", { cause })
    : undefined;
};

interface Handshake {
  /** True if the server uses TLS. */
  readonly hasTls?: boolean;
  /** True if the server responds with something other than TLS. */
  readonly isPlain?: boolean;
  /** Why the server's certificate is refused. */
  readonly refusal?: string;
}

const shakeHands = (
  { host, port }: { readonly host: string; readonly port: number },
  authority: Buffer | undefined,
): Promise<Handshake> =>
  new Promise((resolve) => {
    const socket: TLSSocket = connect({
      host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ["h2"],
      ...(authority && { ca: authority }),
    });
    const settle = (found: Handshake): void => {
      socket.destroy();
      resolve(found);
    };
    socket.setTimeout(handshakeTimeoutMs, () => settle({}));
    socket.on("secureConnect", () => settle({ hasTls: true }));
    socket.on("error", (error: NodeJS.ErrnoException) => settle(toHandshake(error)));
  });

/**
 * Describes the error without a host, by OpenSSL's codes for certificates:
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes.
 */
const toHandshake = ({ code = "", message }: NodeJS.ErrnoException): Handshake => {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return { hasTls: true, refusal: "it is for another host" };
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return { isPlain: true };
  if (!/CERT|SIGNATURE|CRL|_CA$|ISSUER|CHAIN/.test(code)) return {};
  return { hasTls: true, refusal: message.split(";")[0] ?? code };
};
