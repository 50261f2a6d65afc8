import { Argument } from "commander";
import type { KeyDetails, NewKey, NewSecret } from "../../application/accounts/keys.ts";
import { type Plan, tiers } from "../../domain/accounts/plan.ts";
import type { AuditEntry } from "../../ledger/audit/audit-entries.ts";
import { count, fields, table } from "../columns.ts";
import { operator, printing, type Register, writing } from "../command.ts";
import {
  type PlanNumbers,
  type PlanOptions,
  planOf,
  planText,
  withPlanNumbers,
  withPlanOptions,
} from "../plan-options.ts";
import { parseReason } from "../reason.ts";

export const registerKeyCommands: Register = (program, actions) => {
  const { withServices, read } = actions;
  const key = program.command("key").description("manage API keys");

  withPlanOptions(key.command("create <websiteId>"))
    .description("issue a key with a secret, which is shown once")
    .action(
      printing(newKey, (websiteId: string, options: PlanOptions) => {
        const plan = planOf(options.plan, options);
        return withServices(({ keys }) => keys.issue(websiteId, plan, operator), writing);
      }),
    );

  key
    .command("list")
    .description("list keys, oldest first")
    .option("--website <id>", "only keys of this website")
    .action(
      read(keyTable, { keys: "all" }, ({ keys }, { website }: { website?: string }) => keys.list(website)),
    );

  key
    .command("show <apiKey>")
    .description("show a key's state, plan and characters of this month")
    .action(
      read(
        keyText,
        (apiKey: string) => ({ keys: [apiKey], usage: true }),
        ({ keys }, apiKey) => keys.get(apiKey),
      ),
    );

  key
    .command("history <apiKey>")
    .description("show what happened to a key: its issuance, plans, suspensions and secrets")
    .action(read(historyTable, {}, ({ readKeyHistory }, apiKey: string) => readKeyHistory({ apiKey })));

  withPlanNumbers(key.command("plan <apiKey>"))
    .description("change a key's plan; a higher quota ends a suspension by quota")
    .addArgument(new Argument("<tier>", "the plan").choices(tiers))
    .action(
      printing(keyText, (apiKey: string, tier: string, numbers: PlanNumbers) => {
        const plan = planOf(tier, numbers);
        return withServices(({ keys }) => keys.changePlan(apiKey, plan, operator), writing);
      }),
    );

  registerSuspensionCommands(key, actions);
};

const registerSuspensionCommands: Register = (key, { withServices }) => {
  const changing = (change: "suspend" | "reinstate") =>
    printing(keyText, (apiKey: string, options: { reason: string }) => {
      const reason = parseReason(options.reason);
      return withServices(({ keys }) => keys[change](apiKey, reason, operator), writing);
    });

  key
    .command("suspend <apiKey>")
    .description("refuse a key's requests until it is reinstated")
    .requiredOption("--reason <text>", "the reason, shown to the key's holder")
    .action(changing("suspend"));

  key
    .command("reinstate <apiKey>")
    .description("end a key's suspension")
    .option("--reason <text>", "the reason", "reinstated by the operator")
    .action(changing("reinstate"));
};

export const registerSecretCommands: Register = (program, { write }) => {
  const secret = program.command("secret").description("manage secrets of API keys");

  secret
    .command("create <apiKey>")
    .description("add a secret, which is shown once")
    .action(write(newSecret, ({ keys }, apiKey: string) => keys.createSecret(apiKey, operator)));

  secret
    .command("revoke <apiKey> <secretId>")
    .description("revoke a secret")
    .action(
      write(revokedSecret, async ({ keys }, apiKey: string, secretId: string) => {
        await keys.revokeSecret(apiKey, secretId, operator);
        return { apiKey, secretId, revoked: true };
      }),
    );
};

const revokedSecret = ({ secretId }: { secretId: string }): string => `${secretId} is revoked.`;

const newSecret = ({ secretId, apiSecret }: NewSecret): string =>
  fields({ "secret id": secretId, secret: `${apiSecret} (shown this once)` });

const newKey = ({ websiteId, apiKey, plan, ...secret }: NewKey): string =>
  fields({
    website: websiteId,
    key: apiKey,
    plan: planText(plan),
    "secret id": secret.secretId,
    secret: `${secret.apiSecret} (shown this once)`,
  });

const usageText = ({ characters, quota }: NonNullable<KeyDetails["usage"]>): string =>
  `${count(characters)} of ${quota === null ? "unlimited" : count(quota)} characters`;

const keyTable = (all: readonly KeyDetails[]): string =>
  table(
    ["key", "website", "state", "plan"],
    all.map((key) => [key.apiKey, key.websiteId, key.status, key.plan.tier]),
    "There is no key yet.",
  );

const historyTable = (entries: readonly AuditEntry[]): string =>
  table(
    ["position", "time", "event", "by", "what"],
    entries.map(({ position, at, type, data, metadata }) => [
      String(position),
      at,
      type,
      metadata.actor ?? "",
      changeText(data),
    ]),
    "none",
  );

const changeText = (data: { plan?: Plan; cause?: string; reason?: string; secretId?: string }): string => {
  const { plan, cause, reason, secretId = "" } = data;
  if (plan) return planText(plan);
  if (reason !== undefined) return cause === undefined ? reason : `${cause}: ${reason}`;
  return secretId;
};

const keyText = (key: KeyDetails): string =>
  fields({
    key: key.apiKey,
    website: key.websiteId,
    state: key.status,
    suspended:
      key.suspension && `${key.suspension.since} by ${key.suspension.cause}: ${key.suspension.reason}`,
    plan: planText(key.plan),
    ...(key.usage && { [key.usage.month]: usageText(key.usage) }),
    issued: key.issuedAt,
    secrets: key.secrets.map(({ secretId, createdAt }) => `${secretId} (${createdAt})`).join(", ") || "none",
  });
