import type { Command } from "commander";
import type { UsageReport } from "../application/usage/usage-report.ts";
import { print, type Register } from "./command.ts";
import { count, fields, table } from "./layout.ts";

interface UsageOptions {
  readonly month?: string;
  readonly asOf?: string;
}

export const registerUsageCommand: Register = (program, withServices) => {
  program
    .command("usage <apiKey>")
    .description("show a key's usage in a month, by day, engine and voice")
    .option("--month <yyyy-mm>", "the month (UTC); default: the current one, or that of --as-of")
    .option(
      "--as-of <time>",
      "usage up to this time (UTC); a date means its midnight, which excludes that day",
    )
    .action(async (apiKey: string, options: UsageOptions, command: Command) => {
      const request = { apiKey, month: options.month, asOf: options.asOf };
      print(command, await withServices(({ reportUsage }) => reportUsage(request)), usageText);
    });
};

const usageText = (report: UsageReport): string => {
  const { apiKey, month, asOf, characters, requests, voided, quota, byDay, byEngine, byVoice } = report;
  const head = fields({
    key: apiKey,
    month,
    "as of": asOf,
    characters: count(characters),
    requests: count(requests),
    voided: voidedText(voided),
    quota: quotaText(quota),
  });
  return [
    head,
    table(
      ["day", ...tallied],
      byDay.map(({ day, ...tally }) => [day, ...counts(tally)]),
      "",
    ),
    table(
      ["engine", ...tallied],
      byEngine.map(({ engine, ...tally }) => [engine, ...counts(tally)]),
      "",
    ),
    table(
      ["voice", ...tallied],
      byVoice.map(({ voice, ...tally }) => [voice, ...counts(tally)]),
      "",
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
};

const tallied = ["characters", "requests"];
const counts = ({ characters, requests }: Pick<UsageReport, "characters" | "requests">): string[] => [
  count(characters),
  count(requests),
];

const voidedText = ({ characters, requests }: UsageReport["voided"]): string | undefined =>
  requests === 0 ? undefined : `${count(characters)} characters, ${count(requests)} requests`;

const quotaText = (quota: UsageReport["quota"]): string | undefined =>
  quota === null ? "unlimited" : quota === undefined ? undefined : count(quota);
