import type { IncomingMessage } from "node:http";
import type { Authenticator } from "../../application/access/authentication.ts";
import type { Principal } from "../../application/access/principal.ts";
import type { RateLimiter } from "../../application/access/rate-limiter.ts";
import { type Caller, limitHeaders, requireAdmission } from "../access/gate.ts";
import type { ClientAddress } from "../kernel/client-address.ts";
import { handshakeCredentials } from "./handshake.ts";

/** An authenticated caller on a socket of its own. */
export interface SocketCaller {
  readonly apiKey: string;
  /**
   * Admits one more request of the caller as it stands now. A socket outlives the token that it was opened with, but not
   * the secret or the origin that the token was minted from.
   * @throws {Unauthorized} @throws {RateLimited} @throws {KeyIsSuspended}
   */
  admit(): Principal;
}

/** The decision about one handshake; `headers` are the rate-limit headers, present once the key is known. */
export type HandshakeDecision = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly guest: SocketCaller; readonly refusal?: undefined }
  | { readonly refusal: unknown; readonly guest?: undefined }
);

/** Authenticates a handshake and counts it as one request. Never throws. */
export type AdmitHandshake = (handshake: IncomingMessage) => HandshakeDecision;

export const createHandshakeAdmission = ({
  authenticator,
  limiter,
  clientOf,
}: {
  authenticator: Authenticator;
  limiter: RateLimiter;
  clientOf: ClientAddress;
}): AdmitHandshake => {
  const counted = (principal: Principal, client: string): Caller => ({
    principal,
    admission: limiter.admit(principal.apiKey, principal.plan, client),
  });

  return (handshake) => {
    let headers: Record<string, string> = {};
    try {
      const client = clientOf(handshake);
      const caller = counted(authenticator.authenticate(handshakeCredentials(handshake), client), client);
      headers = limitHeaders(caller.admission);
      requireAdmission(caller);
      const { principal } = caller;
      const admit = (): Principal => {
        const again = counted(authenticator.reauthenticate(principal), client);
        requireAdmission(again);
        return again.principal;
      };
      return { guest: { apiKey: principal.apiKey, admit }, headers };
    } catch (refusal) {
      return { refusal, headers };
    }
  };
};
