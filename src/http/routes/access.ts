import { z } from "zod";
import type { AccessTokens } from "../../application/access/access-tokens.ts";
import type {
  OriginVerification,
  VerificationOutcome,
} from "../../application/accounts/origin-verification.ts";
import type { Websites } from "../../application/accounts/websites.ts";
import type { Voices } from "../../application/catalog/voices.ts";
import { type WebsiteConfig, websiteConfig } from "../../domain/accounts/website-config.ts";
import { presenterOf } from "../../limits/client-network.ts";
import type { Limits } from "../../limits/limits.ts";
import { tryWithMore } from "../../limits/limits.ts";
import { bearerOf } from "../access/credentials.ts";
import { noStore } from "../caching/cache-control.ts";
import type { ClientAddress } from "../kernel/client-address.ts";
import { namedSchema } from "../kernel/named-schema.ts";
import { json, type Operation, operationsWith } from "../kernel/operation.ts";
import { callerIn, websiteOf } from "../kernel/request-state.ts";

/** `exp` is in Unix seconds. */
const AuthToken = namedSchema("AuthToken", { exp: z.int(), token: z.string() });

export const ConfigResponse = namedSchema("ConfigResponse", {
  ...websiteConfig.shape,
  suspended: z.literal(true).exactOptional().meta({
    description: "Present while the key is suspended: the service refuses to speak.",
  }),
  voiceLanguages: z
    .record(z.string(), z.string())
    .meta({ description: "The languages of the voices that the configuration names, by their names." }),
  auth: AuthToken,
});

const verifyOriginResponse = namedSchema("VerifyOriginResponse", {
  verified: z.boolean().meta({
    description: "False for a token that is used, expired or issued for another origin.",
  }),
  origin: z.string().meta({ description: "The request's `Origin`; empty without one." }),
}) satisfies z.ZodType<VerificationOutcome>;

interface AccessOptions {
  readonly voices: Pick<Voices, "languageOf">;
  readonly websites: Pick<Websites, "get">;
  readonly accessTokens: Pick<AccessTokens, "issue">;
  readonly originVerification: Pick<OriginVerification, "isKnown" | "verify">;
  readonly limits: Pick<Limits, "failures">;
  readonly clientOf: ClientAddress;
}

const accessOperation = operationsWith({ tag: "Access", cache: [noStore] });

/** A website's configuration, its access tokens and the verification of its origins. */
export const accessOperations = (options: AccessOptions): Operation[] => [
  readConfig(options),
  refreshToken(options),
  verifyOrigin(options),
];

const readConfig = ({ websites, voices, accessTokens }: AccessOptions): Operation =>
  accessOperation({
    method: "get",
    path: "/v2/config",
    id: "readConfig",
    summary: "Read the website's configuration, with an access token",
    description: "Suspended keys may read it. No cache stores it, because it contains a token.",
    auth: "website, even suspended",
    responses: { 200: { description: "The current configuration.", content: json(ConfigResponse) } },
    handle: (_, ctx) => {
      const websiteId = websiteOf(ctx);
      const { config } = websites.get(websiteId);
      const { principal } = callerIn(ctx.state);
      const suspended = principal.suspension && ({ suspended: true } as const);
      const voiceLanguages = languagesOf(config, (name) => voices.languageOf(websiteId, name));
      return { ...config, ...suspended, voiceLanguages, auth: accessTokens.issue(principal) };
    },
  });

const languagesOf = (
  { voice, features }: WebsiteConfig,
  languageOf: (voice: string) => string | undefined,
): Record<string, string> =>
  Object.fromEntries(
    [voice.name, features.webPlayer.voice].flatMap((name) => {
      const lang = typeof name === "string" ? languageOf(name) : undefined;
      return typeof name === "string" && lang !== undefined ? [[name, lang]] : [];
    }),
  );

const refreshToken = ({ accessTokens }: AccessOptions): Operation =>
  accessOperation({
    method: "post",
    path: "/v2/auth/refresh",
    id: "refreshToken",
    summary: "Get a new access token",
    description:
      "A token that another token asks for is valid for at most a day after other credentials got the first one: then they are needed again.",
    auth: "website",
    responses: { 200: { description: "The token.", content: json(AuthToken) } },
    handle: (_, ctx) => accessTokens.issue(callerIn(ctx.state).principal),
  });

const verifyOrigin = ({ originVerification, limits, clientOf }: AccessOptions): Operation =>
  accessOperation({
    method: "post",
    path: "/v2/auth/verify-origin",
    id: "verifyOrigin",
    summary: "Prove that the request's origin belongs to the website",
    auth: "verification token",
    headers: {
      Origin: z
        .string()
        .optional()
        .meta({ description: "The origin to prove.", examples: ["https://example.com"] }),
    },
    responses: {
      200: {
        description: "Whether the token proves the origin. If it does, the origin is now verified.",
        content: json(verifyOriginResponse),
      },
    },
    errors: [503],
    handle: async (_, { req, state }) => {
      const { authorization, origin = "" } = req.headers;
      const token = bearerOf(authorization);
      // Tokens that the view lacks may be new, so `verify` reads the stream. Each of them first
      // counts as a failed attempt.
      if (authorization !== undefined && !originVerification.isKnown(token))
        await tryWithMore(() => limits.failures.acquire(presenterOf(clientOf(req), "website")));
      return await originVerification.verify({ token, origin }, state.requestId);
    },
  });
