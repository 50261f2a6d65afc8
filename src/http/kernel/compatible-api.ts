import type { ErrorEnvelope } from "./errors/error-envelope.ts";

/** An API of another service, which this service implements below a separate path. */
export interface CompatibleApi {
  /** The first segment of its paths, which match without regard to case. */
  readonly segment: string;
  /** The tag of its operations in the OpenAPI document. */
  readonly tag: { readonly name: string; readonly description: string };
  /** Writes every error of this API, also for unknown paths and refused callers. */
  readonly errors: ErrorEnvelope;
  /**
   * The names, in lower case, of the headers that its clients add to requests. Firefox lets pages
   * set `User-Agent`.
   */
  readonly clientHeaders: RegExp;
  /** The header in which its clients send a token, if not in `Authorization`. */
  readonly tokenHeader?: {
    /** The name is in lower case. */
    readonly name: string;
    /** Its name and description as a security scheme of the OpenAPI document. */
    readonly scheme: string;
    readonly description: string;
  };
}

/** The headers, in lower case, in which clients of compatible APIs send tokens. */
export const tokenHeadersOf = (apis: readonly CompatibleApi[]): string[] =>
  apis.flatMap(({ tokenHeader }) => (tokenHeader ? [tokenHeader.name] : []));

/** Finds the API to which a path belongs; undefined for the service's own API. */
export const apiAt = <Api extends CompatibleApi>(apis: readonly Api[], path: string): Api | undefined => {
  const [, first = ""] = path.split("/", 2);
  return apis.find(({ segment }) => segment === first.toLowerCase());
};
