import { Conflict, NotFound } from "../errors.ts";
import { never } from "../never.ts";
import type { EventOf } from "../shape.ts";
import { singleLine } from "../validation.ts";
import type { keyShapes, SuspensionCause } from "./event-shapes.ts";
import type { Plan } from "./plan.ts";

/** An API key of a website. Stream `key-{apiKey}`. Times are ISO 8601, UTC. */
export type KeyEvent = EventOf<typeof keyShapes>;

export interface Secret {
  readonly secretId: string;
  readonly hash: string;
  readonly createdAt: string;
}

interface Issued {
  readonly apiKey: string;
  readonly websiteId: string;
  readonly plan: Plan;
  readonly secrets: readonly Secret[];
  readonly issuedAt: string;
}

type ActiveKey = Issued & { readonly status: "active" };
type SuspendedKey = Issued & {
  readonly status: "suspended";
  readonly cause: SuspensionCause;
  readonly reason: string;
  readonly suspendedAt: string;
};
export type IssuedKey = ActiveKey | SuspendedKey;
export type Key = { readonly status: "absent" } | IssuedKey;

export const keyStream = (apiKey: string): string => `key-${apiKey}`;

export const initialKey = (): Key => ({ status: "absent" });

export const evolveKey = (key: Key, event: KeyEvent): Key => {
  if (event.type === "KeyIssued") {
    const { apiKey, websiteId, plan, at } = event.data;
    return { status: "active", apiKey, websiteId, plan, secrets: [], issuedAt: at };
  }
  if (key.status === "absent") return key;
  switch (event.type) {
    case "SecretCreated": {
      const { secretId, hash, at } = event.data;
      // V8 would reserve memory for 16 further elements in an array that a spread creates.
      return { ...key, secrets: key.secrets.concat({ secretId, hash, createdAt: at }) };
    }
    case "SecretRevoked":
      return { ...key, secrets: key.secrets.filter(({ secretId }) => secretId !== event.data.secretId) };
    case "PlanChanged":
      return { ...key, plan: event.data.plan };
    case "KeySuspended": {
      const { cause, reason, at } = event.data;
      return { ...issuedMembers(key), status: "suspended", cause, reason, suspendedAt: at };
    }
    case "KeyReinstated":
      return { ...issuedMembers(key), status: "active" };
    default:
      return never(event, key);
  }
};

export const keyDecider = { initial: initialKey, evolve: evolveKey };

/** The operator's reason for a suspension or reinstatement. */
export const reason = singleLine(500);

/** Maximum number of valid secrets of a key, enough for rotation. */
export const maxSecrets = 10;

export const issueKey = (
  key: Key,
  { apiKey, websiteId, plan, at }: { apiKey: string; websiteId: string; plan: Plan; at: string },
): KeyEvent[] => {
  if (key.status !== "absent") throw new Conflict(`The key ${apiKey} is already issued.`);
  return [{ type: "KeyIssued", data: { apiKey, websiteId, plan, at } }];
};

export const createSecret = (
  key: Key,
  { secretId, hash, at }: { secretId: string; hash: string; at: string },
): KeyEvent[] => {
  if (requireIssued(key).secrets.length >= maxSecrets) {
    throw new Conflict(`A key has at most ${maxSecrets} secrets: revoke one first.`);
  }
  return [{ type: "SecretCreated", data: { secretId, hash, at } }];
};

export const revokeSecret = (key: Key, { secretId, at }: { secretId: string; at: string }): KeyEvent[] => {
  if (!requireIssued(key).secrets.some((secret) => secret.secretId === secretId)) {
    throw new NotFound(`The key has no secret ${secretId}.`);
  }
  return [{ type: "SecretRevoked", data: { secretId, at } }];
};

/** A higher quota lifts a suspension by quota. */
export const changePlan = (key: Key, { plan, at }: { plan: Plan; at: string }): KeyEvent[] => {
  const was = requireIssued(key);
  if (samePlan(was.plan, plan)) return [];
  const changed: KeyEvent = { type: "PlanChanged", data: { plan, at } };
  const lifted = was.status === "suspended" && was.cause === "quota" && quotaOf(plan) > quotaOf(was.plan);
  return lifted ? [changed, { type: "KeyReinstated", data: { reason: "plan raised", at } }] : [changed];
};

/** `quota`: the monthly characters that a request would have exceeded. */
type Suspension =
  | { cause: "operator"; reason: string; at: string }
  | { cause: "quota"; quota: number; reason: string; at: string };

/** A suspension by an operator replaces one by quota. */
export const suspendKey = (key: Key, suspension: Suspension): KeyEvent[] => {
  const was = requireIssued(key);
  const { cause, reason, at } = suspension;
  if (was.status === "suspended" && (was.cause === "operator" || cause === "quota")) return [];
  // If the plan was raised after the request was refused, the key must not be suspended.
  if (suspension.cause === "quota" && quotaOf(was.plan) > suspension.quota) return [];
  return [{ type: "KeySuspended", data: { cause, reason, at } }];
};

/** Suspends the key and revokes its secrets: its website was erased. */
export const endKey = (key: Key, { reason, at }: { reason: string; at: string }): KeyEvent[] => [
  ...suspendKey(key, { cause: "operator", reason, at }),
  ...requireIssued(key).secrets.map(
    ({ secretId }): KeyEvent => ({ type: "SecretRevoked", data: { secretId, at } }),
  ),
];

export const reinstateKey = (key: Key, { reason, at }: { reason: string; at: string }): KeyEvent[] => {
  if (requireIssued(key).status === "active") return [];
  return [{ type: "KeyReinstated", data: { reason, at } }];
};

/** @throws {NotFound} */
export const requireIssued = (key: Key): IssuedKey => {
  if (key.status === "absent") throw new NotFound("There is no such key.");
  return key;
};

const issuedMembers = ({ apiKey, websiteId, plan, secrets, issuedAt }: Issued): Issued => ({
  apiKey,
  websiteId,
  plan,
  secrets,
  issuedAt,
});

const quotaOf = (plan: Plan): number => plan.monthlyCharacters ?? Number.POSITIVE_INFINITY;

const samePlan = (a: Plan, b: Plan): boolean =>
  a.tier === b.tier &&
  a.requestsPerMinute === b.requestsPerMinute &&
  a.monthlyCharacters === b.monthlyCharacters;
