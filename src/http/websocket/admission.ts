import type { IncomingMessage } from "node:http";
import type { Authenticator } from "../../application/access/authentication.ts";
import type { Principal } from "../../application/access/principal.ts";
import type { Release } from "../../limits/limit.ts";
import { type Limits, tryWithMore } from "../../limits/limits.ts";
import type { RateLimiter } from "../../limits/rate-limiter.ts";
import type { CredentialReader } from "../access/credentials.ts";
import { limitHeaders, requireAdmission } from "../access/gate.ts";
import type { ClientAddress } from "../kernel/client-address.ts";
import type { Caller } from "../kernel/request-state.ts";
import { handshakeCredentials } from "./handshake.ts";

/** The authenticated caller of a socket. */
export interface SocketCaller {
  readonly apiKey: string;
  /**
   * Admits one more request with the caller's current permissions. A socket may outlive the access
   * token with which it was opened. It may not outlive the token's session, or the secret or origin
   * for which the token was issued.
   * @throws {Unauthorized}
   * @throws {RateLimited}
   * @throws {KeyIsSuspended}
   */
  admit(): Principal;
  /** Call it when the socket is closed, or could not be opened. */
  readonly release: Release;
}

/** `headers` are the rate-limit headers; empty if the key is unknown. */
export type HandshakeDecision = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly caller: SocketCaller; readonly refusal?: undefined }
  | { readonly refusal: unknown; readonly caller?: undefined }
);

/** Authenticates a handshake, and counts it as one request and as an open socket. Never rejects. */
export type AdmitHandshake = (handshake: IncomingMessage) => Promise<HandshakeDecision>;

export const createHandshakeAdmission =
  ({
    authenticator,
    limiter,
    limits: { sockets },
    credentialReader,
    clientOf,
  }: {
    authenticator: Authenticator;
    limiter: RateLimiter;
    limits: Pick<Limits, "sockets">;
    credentialReader: Pick<CredentialReader, "read">;
    clientOf: ClientAddress;
  }): AdmitHandshake =>
  async (handshake) => {
    let headers: Record<string, string> = {};
    try {
      const client = clientOf(handshake);
      const countRequest = (principal: Principal): Caller => ({
        principal,
        admission: limiter.admit(principal, client),
      });
      const credentials = handshakeCredentials(handshake, credentialReader);
      const principal = await tryWithMore(() => {
        const opening = countRequest(authenticator.authenticate(credentials, client, "websocket"));
        headers = limitHeaders(opening.admission);
        requireAdmission(opening);
        return opening.principal;
      });
      const admit = (): Principal => {
        const current = countRequest(authenticator.reauthenticate(principal));
        requireAdmission(current);
        return current.principal;
      };
      const { apiKey } = principal;
      const release = await tryWithMore(() => sockets.acquire(apiKey));
      return { caller: { apiKey, admit, release }, headers };
    } catch (refusal) {
      return { refusal, headers };
    }
  };
