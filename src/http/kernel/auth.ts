/** The roles of the admin API. An operator may do all that an auditor may. */
export type AdminAuth = "operator" | "auditor";

/**
 * The callers that may call an operation. The service authenticates websites, operators and
 * auditors before the operation runs. Handlers authenticate the others.
 */
export type Auth =
  | "none"
  /** Anyone may call it. Operators and auditors get more. */
  | "anyone, or auditor"
  | "website"
  /** Keys that are suspended may call it too. */
  | "website, even suspended"
  /** Callers without credentials may call it too. */
  | "website, if it has credentials"
  /** Credentials of a WebSocket handshake. */
  | "websocket"
  /** Operators and auditors may call it too, without a key. */
  | "website even suspended, or auditor"
  /** A token that proves an origin. */
  | "verification token"
  | AdminAuth;

export const isAdmin = (auth: Auth): auth is AdminAuth => auth === "operator" || auth === "auditor";

/** The pages that may read the responses. */
export type Cors =
  | "any origin"
  /** The response depends on `Origin`. */
  | "any origin, varying"
  /** The verified origins of any website. */
  | "verified origins"
  | "same origin";
