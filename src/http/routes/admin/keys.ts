import { z } from "zod";
import type { ReadKeyHistory } from "../../../application/accounts/key-history.ts";
import type { KeyDetails, Keys, NewKey, NewSecret } from "../../../application/accounts/keys.ts";
import { reason } from "../../../domain/accounts/key.ts";
import { type Plan, tiers } from "../../../domain/accounts/plan.ts";
import { planOrTier, planRequest } from "../../../domain/accounts/plan-request.ts";
import { noStore } from "../../caching/cache-control.ts";
import { location } from "../../kernel/headers.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { jsonRequest, pathParams, queryParams, resourceName } from "../../kernel/operation.ts";
import {
  adminOperationOf,
  apiKey,
  count,
  created,
  noContent,
  ok,
  time,
  websiteId,
} from "./admin-operation.ts";
import { keyQuery, pageOfKeys } from "./key-list.ts";
import { auditEntry } from "./ledger/audit-entry.ts";
import { pageMembers, pageParameters, total } from "./paging.ts";

export const plan = namedSchema("Plan", {
  tier: z.enum(tiers),
  requestsPerMinute: z.int(),
  monthlyCharacters: z.int().nullable().meta({ description: "null: unlimited." }),
}) satisfies z.ZodType<Plan>;

export const newSecret = namedSchema("NewSecret", {
  secretId: z.string(),
  apiSecret: z.string().meta({ description: "Shown only in this response." }),
}) satisfies z.ZodType<NewSecret>;

const newKey = namedSchema("NewKey", {
  ...newSecret.shape,
  apiKey: z.string(),
  websiteId: z.string(),
  plan,
}) satisfies z.ZodType<NewKey>;

const keyDetails = namedSchema("KeyDetails", {
  apiKey: z.string(),
  websiteId: z.string(),
  websiteName: z.string().exactOptional(),
  status: z.enum(["active", "suspended"]),
  suspension: z
    .object({ cause: z.enum(["quota", "operator"]), reason: z.string(), since: time })
    .exactOptional(),
  plan,
  secrets: z.array(z.object({ secretId: z.string(), createdAt: time })),
  issuedAt: time,
  usage: z
    .object({ month: z.string(), characters: count, quota: z.int().nullable(), asOfPosition: count })
    .meta({
      description:
        "The characters of this month (UTC), of all servings up to this position of the log, and the quota.",
    }),
}) satisfies z.ZodType<KeyDetails>;

const historyQuery = queryParams(
  z.object({
    limit: pageParameters.limit,
    order: z
      .enum(["ascending", "descending"])
      .default("ascending")
      .meta({ description: "`ascending`: the earliest first." }),
    after: z
      .string()
      .regex(/^\d{1,15}$/, { error: "Must be the revision of an event of the key." })
      .transform(Number)
      .optional()
      .meta({
        description: "The revision of the last event received, as in `_links.next`.",
        examples: ["4"],
      }),
  }),
);

const issuance = z.strictObject({ plan: planOrTier });
const suspension = z.strictObject({ reason });
const reinstatement = z.strictObject({ reason: reason.default("reinstated by the operator") });

const secretId = resourceName("A secret's id.", "sec_0b9Zk2fX7Qm4sT1uVwYzAc");

const keyOperation = adminOperationOf<{ keys: Keys; readKeyHistory: ReadKeyHistory }>();

/** `/admin/keys`, and the keys of a website. */
export const keyOperations = [
  keyOperation({
    method: "post",
    path: "/admin/websites/{id}/keys",
    id: "issueKey",
    summary: "Issue another key with its first secret",
    cache: [noStore],
    params: pathParams({ id: websiteId }),
    body: jsonRequest(
      issuance,
      { plan: { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: null } },
      { required: false },
    ),
    responses: created("The key. The secret is shown only in this response.", newKey, location),
    handle: async ({ keys }, { params, body }, command, ctx) => {
      const key = await keys.issue(params.id, body.plan, command);
      ctx.set("Location", `/admin/keys/${key.apiKey}`);
      return key;
    },
  }),
  keyOperation({
    method: "get",
    path: "/admin/keys",
    id: "listKeys",
    summary: "List the keys, by default the oldest first",
    query: keyQuery,
    responses: ok("The keys.", z.object({ keys: z.array(keyDetails), total, ...pageMembers })),
    errors: [503],
    handle: ({ keys }, { query }) => pageOfKeys(keys, query),
  }),
  keyOperation({
    method: "get",
    path: "/admin/keys/{apiKey}",
    id: "showKey",
    summary: "Show a key: its state, its plan and its usage this month",
    params: pathParams({ apiKey }),
    responses: ok("The key.", keyDetails),
    errors: [503],
    handle: ({ keys }, { params }) => keys.get(params.apiKey),
  }),
  keyOperation({
    method: "get",
    path: "/admin/keys/{apiKey}/history",
    id: "readKeyHistory",
    summary: "Read what happened to a key: its issuance, plans, suspensions and secrets",
    params: pathParams({ apiKey }),
    query: historyQuery,
    responses: ok("The events, as in the audit.", z.object({ events: z.array(auditEntry), ...pageMembers })),
    errors: [503],
    handle: async ({ readKeyHistory }, { params, query }, _, ctx) => {
      const signal = disconnectSignal(ctx);
      const events = await readKeyHistory({ ...params, ...query, signal });
      const last = events.at(-1);
      const isLast = !last || events.length < query.limit;
      const href = `?order=${query.order}&limit=${query.limit}&after=${last?.revision}`;
      return { events, count: events.length, _links: isLast ? {} : { next: { href } } };
    },
  }),
  keyOperation({
    method: "post",
    path: "/admin/keys/{apiKey}/secrets",
    id: "createSecret",
    summary: "Create another secret, for rotation",
    cache: [noStore],
    params: pathParams({ apiKey }),
    responses: created("The secret, shown only in this response.", newSecret),
    errors: [409, 503],
    handle: ({ keys }, { params }, command) => keys.createSecret(params.apiKey, command),
  }),
  keyOperation({
    method: "delete",
    path: "/admin/keys/{apiKey}/secrets/{secretId}",
    id: "revokeSecret",
    summary: "Revoke a secret",
    params: pathParams({ apiKey, secretId }),
    responses: noContent("The secret is revoked; requests with it are refused."),
    errors: [503],
    handle: ({ keys }, { params }, command) => keys.revokeSecret(params.apiKey, params.secretId, command),
  }),
  keyOperation({
    method: "put",
    path: "/admin/keys/{apiKey}/plan",
    id: "changePlan",
    summary: "Change a key's plan; a higher quota ends a suspension by quota",
    params: pathParams({ apiKey }),
    body: jsonRequest(planRequest, { tier: "commercial" }),
    responses: ok("The changed key.", keyDetails),
    handle: ({ keys }, { params, body }, command) => keys.changePlan(params.apiKey, body, command),
  }),
  keyOperation({
    method: "post",
    path: "/admin/keys/{apiKey}/suspend",
    id: "suspendKey",
    summary: "Suspend a key",
    params: pathParams({ apiKey }),
    body: jsonRequest(suspension, { reason: "invoice overdue" }),
    responses: ok("The changed key.", keyDetails),
    handle: ({ keys }, { params, body }, command) => keys.suspend(params.apiKey, body.reason, command),
  }),
  keyOperation({
    method: "post",
    path: "/admin/keys/{apiKey}/reinstate",
    id: "reinstateKey",
    summary: "Reinstate a suspended key",
    params: pathParams({ apiKey }),
    body: jsonRequest(reinstatement, { reason: "paid" }, { required: false }),
    responses: ok("The changed key.", keyDetails),
    handle: ({ keys }, { params, body }, command) => keys.reinstate(params.apiKey, body.reason, command),
  }),
];
