import type { Command } from "commander";
import type { InstanceStatus, ProviderStatus } from "../../application/health/instance-status.ts";
import type { UsageOverview } from "../../ledger/reports/usage-overview.ts";
import { count, fields, table } from "../columns.ts";
import { printing } from "../command.ts";

/**
 * Reads a resource of a running instance's admin API. `url`: the URL of the instance. Default: that
 * of the settings.
 * @throws {Error}
 */
export type AskInstance = (path: string, url?: string) => Promise<unknown>;

/** Adds the command `instance`: reports that only a running instance can give. */
export const registerInstanceCommands = (program: Command, askInstance: AskInstance): void => {
  const instance = program
    .command("instance")
    .description("ask a running instance over its admin API; needs ADMIN_TOKEN or AUDITOR_TOKEN");
  const add = <T>(name: string, description: string, human: (response: T) => string): Command =>
    instance
      .command(`${name} [url]`)
      .description(`${description}; without a URL of the instance on HOST and PORT`)
      .action(printing(human, async (url?: string) => (await askInstance(`admin/${name}`, url)) as T));

  add("status", "show an instance's health, its views and the other instances", statusText);
  add(
    "providers",
    "show an instance's queues, and circuit breakers, errors and latency of its providers",
    providersText,
  );
  add(
    "usage",
    "show what all instances have served to all keys, today, this month and by day (UTC)",
    usageText,
  );
};

const statusText = ({
  instance,
  version,
  startedAt,
  asOf,
  position,
  projections,
  health,
  others,
}: InstanceStatus) => {
  const { live, lagMs, failed } = projections;
  const parts = Object.entries(health.parts).map(([name, { status, detail = "" }]) => [name, status, detail]);
  return [
    fields({
      instance,
      version,
      started: startedAt,
      "as of": asOf,
      position: count(position),
      views: live ? `current, ${count(lagMs)} ms behind` : `not live, ${count(lagMs)} ms behind`,
      "failed views": failed.join(", ") || undefined,
      health: health.status,
      others: others.map(({ instance, reportedAt }) => `${instance} (${reportedAt})`).join(", ") || "none",
    }),
    table(["part", "health", "detail"], parts, "none"),
  ].join("\n\n");
};

const providersText = ({ instance, asOf, resources, providers }: ProviderStatus): string =>
  [
    fields({ instance, "as of": asOf }),
    table(
      ["engine", "website", "circuit", "requests", "retries", "errors", "mean latency", "last error"],
      providers.map(({ engine, websiteId = "", circuit, latency, lastError, ...counts }) => [
        engine,
        websiteId,
        circuit,
        ...[counts.requests, counts.retries, counts.errors].map(count),
        latency ? `${Math.round(latency.mean)} ms` : "",
        lastError ? `${lastError.what} (${lastError.at})` : "",
      ]),
      "No provider was used since the instance started.",
    ),
    table(
      ["resource", "running", "waiting", "longest wait", "refused", "state"],
      resources.map(({ resource, running, queued, oldestWaitMs, refused, isFull, isSlow }) => [
        resource,
        count(running),
        count(queued),
        `${Math.round(oldestWaitMs)} ms`,
        count(refused),
        isFull ? "full" : isSlow ? "slow" : "accepts",
      ]),
      "none",
    ),
  ].join("\n\n");

const usageText = ({ asOf, asOfPosition, isComplete, today, month, days }: UsageOverview): string =>
  [
    fields({
      "as of": `${asOf}, position ${count(asOfPosition)}`,
      ...(!isComplete && { incomplete: "the instance is still reading the log: ask again" }),
    }),
    table(
      ["since", "requests", "characters", "synthesized", "coalesced", "memory", "store", "voided"],
      [today, month].map(({ from, requests, characters, served, voided }) => [
        from,
        ...[requests, characters].map(count),
        ...[served.miss, served.coalesced, served.memory, served.store, voided].map((one) =>
          count(one.requests),
        ),
      ]),
      "none",
    ),
    table(
      ["day", "engine", "requests", "characters"],
      days.flatMap(({ day, engines }) =>
        Object.entries(engines).map(([engine, { requests, characters }]) => [
          day,
          engine,
          count(requests),
          count(characters),
        ]),
      ),
      "Nothing was served in the last 31 days.",
    ),
  ].join("\n\n");
