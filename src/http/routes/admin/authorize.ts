import { hash, timingSafeEqual } from "node:crypto";
import { Forbidden, NotFound, Unauthorized } from "../../../domain/errors.ts";
import { presenterOf } from "../../../limits/client-network.ts";
import type { RefusingLimit } from "../../../limits/limit.ts";
import { bearerOf } from "../../access/credentials.ts";
import type { AdminAuth } from "../../kernel/auth.ts";
import type { ClientAddress } from "../../kernel/client-address.ts";
import type { AdminSession, Admit } from "../../kernel/request-state.ts";

/** A bearer token, with the name of its holder if the setting names one. */
interface NamedToken {
  readonly name: string | undefined;
  readonly token: string;
}

interface AdminAccess {
  /** The tokens of operators and of auditors. Without any, every admin operation is a 404. */
  readonly adminTokens: readonly NamedToken[];
  readonly auditorTokens: readonly NamedToken[];
  /** It limits wrong tokens. */
  readonly failures: RefusingLimit;
  readonly clientOf: ClientAddress;
}

/**
 * Authenticates operators and auditors by their tokens. Operators may do all that auditors may.
 * @throws {NotFound} if neither role has a token
 * @throws {Unauthorized}
 * @throws {RateLimited} for a wrong token of a client that has presented too many
 * @throws {Forbidden} for an auditor where an operator is required
 */
export const authorizeAdmin = (
  required: AdminAuth,
  { adminTokens, auditorTokens, failures, clientOf }: AdminAccess,
): Admit => {
  const known = knownTokens({ adminTokens, auditorTokens });
  return (req, state) => {
    if (known.length === 0) throw new NotFound("There is nothing under this address.");
    const { authorization } = req.headers;
    const holder = findToken(known, bearerOf(authorization));
    if (!holder) {
      if (authorization !== undefined) failures.acquire(presenterOf(clientOf(req), "admin"));
      throw new Unauthorized("The admin token is missing or wrong.");
    }
    state.actor = holder.actor;
    state.adminSession = holder.session;
    if (required === "operator" && holder.session.role !== "operator") {
      throw new Forbidden("This operation requires an operator's token.");
    }
  };
};

/**
 * Authenticates operators and auditors by their tokens, and all other callers with `admitOther`.
 */
export const authorizeAuditorOr = (
  admitOther: Admit,
  tokens: Pick<AdminAccess, "adminTokens" | "auditorTokens">,
): Admit => {
  const known = knownTokens(tokens);
  return (req, state) => {
    const holder = findToken(known, bearerOf(req.headers.authorization));
    if (holder) state.actor = holder.actor;
    else admitOther(req, state);
  };
};

/**
 * Admits anyone, because a health check without a token must never be refused. Wrong tokens are
 * limited as those of the admin API: the response tells them from right ones.
 * @throws {RateLimited} for a wrong token of a client that has presented too many
 */
export const admitAnyone = ({ failures, clientOf, ...tokens }: AdminAccess): Admit => {
  const hasTokens = knownTokens(tokens).length > 0;
  return authorizeAuditorOr((req) => {
    const isGuess = hasTokens && bearerOf(req.headers.authorization) !== "";
    if (isGuess) failures.acquire(presenterOf(clientOf(req), "admin"));
  }, tokens);
};

const knownTokens = ({
  adminTokens,
  auditorTokens,
}: Pick<AdminAccess, "adminTokens" | "auditorTokens">): KnownToken[] => [
  ...adminTokens.map((token) => toKnownToken("operator", "admin", token)),
  ...auditorTokens.map((token) => toKnownToken("auditor", "auditor", token)),
];

interface KnownToken {
  readonly session: AdminSession;
  readonly actor: string;
  readonly digest: Buffer;
}

const toKnownToken = (role: AdminAuth, title: string, { name, token }: NamedToken): KnownToken => ({
  session: { role, ...(name !== undefined && { name }) },
  actor: name === undefined ? title : `${title}:${name}`,
  digest: digestOf(token),
});

/**
 * Compares with every token, each in constant time, so the response time reveals nothing about the
 * tokens.
 */
const findToken = (known: readonly KnownToken[], presented: string): KnownToken | undefined => {
  const digest = digestOf(presented);
  let found: KnownToken | undefined;
  for (const token of known) if (timingSafeEqual(token.digest, digest)) found = token;
  return found;
};

/** Digests have the same length, which `timingSafeEqual` requires. */
const digestOf = (token: string): Buffer => hash("sha256", token, "buffer");
