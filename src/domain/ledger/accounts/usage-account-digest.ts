import { hash } from "node:crypto";
import { canonicalJson } from "../journal/canonical.ts";
import type { UsageAccountEvent } from "./usage-account.ts";

/**
 * SHA-256 (hex) over the canonical forms of the events, in order. Apart from the account, whose
 * fold EventStoreDB servers run: they have no node:crypto.
 */
export const usageAccountDigest = (events: readonly UsageAccountEvent[]): string =>
  hash("sha256", events.map(({ type, data }) => canonicalJson({ data, type })).join(""));
