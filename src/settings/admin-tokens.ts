import { z } from "zod";

/**
 * A bearer token of the admin API, and the name of its holder; undefined for a token without a
 * name.
 */
interface AdminToken {
  readonly name: string | undefined;
  readonly token: string;
}

const maxTokens = 100;
/** A holder has two while one of them is being replaced. */
const maxTokensOfName = 2;
const namedToken = /^([A-Za-z][A-Za-z0-9._-]{0,31})=(.*)$/s;
/** Visible ASCII without the comma; `=` only as the padding of base64. */
const tokenPattern = /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]{16,256}={0,2}$/;

const parseToken = (entry: string): AdminToken => {
  const [, name, token = entry] = namedToken.exec(entry) ?? [];
  return { name, token };
};

const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

/**
 * `TOKEN`, or `NAME=TOKEN,NAME=TOKEN`. A name may occur twice. Messages never repeat a part of the
 * value: it may be a secret.
 */
export const adminTokens = z
  .string()
  .transform((value) => value.split(",").map((entry) => parseToken(entry.trim())))
  .refine((tokens) => tokens.length <= maxTokens, `must be at most ${maxTokens} tokens`)
  .refine(
    (tokens) => tokens.every(({ token }) => tokenPattern.test(token)),
    "must be TOKEN or NAME=TOKEN, comma-separated; a token has 16 to 256 visible ASCII characters without commas",
  )
  .refine(
    (tokens) =>
      Map.groupBy(tokens, ({ name }) => name)
        .values()
        .every(({ length }) => length <= maxTokensOfName),
    `must be at most ${maxTokensOfName} tokens of the same name, and at most ${maxTokensOfName} without a name`,
  )
  .refine((tokens) => isUnique(tokens.map(({ token }) => token)), "must not repeat a token");

/** Refuses a token that is given for both roles. */
export const checkRoles = (
  {
    ADMIN_TOKEN: admins,
    AUDITOR_TOKEN: auditors,
  }: { readonly ADMIN_TOKEN: readonly AdminToken[]; readonly AUDITOR_TOKEN: readonly AdminToken[] },
  context: z.RefinementCtx,
): void => {
  const known = new Set(admins.map(({ token }) => token));
  if (!auditors.some(({ token }) => known.has(token))) return;
  context.addIssue({
    code: "custom",
    path: ["AUDITOR_TOKEN"],
    message: "must not repeat a token of ADMIN_TOKEN",
  });
};
