import { InvalidArgumentError } from "commander";
import type { UsageReport, UsageReportRequest } from "../../ledger/reports/usage-report.ts";
import { count, fields, table } from "../columns.ts";
import type { Register } from "../command.ts";

export const registerUsageCommand: Register = (program, { read }) => {
  program
    .command("usage <apiKey>")
    .description("show a key's usage in a month, by day, engine and voice")
    .option("--month <yyyy-mm>", "the month (UTC); default: the current one, or that of --as-of")
    .option(
      "--as-of <time>",
      "usage up to this time (UTC); a date means its midnight, which excludes that day",
    )
    .option("--as-of-position <position>", "usage up to this position of the log, as in an audit", position)
    .action(
      read(usageText, {}, ({ reportUsage }, apiKey: string, options: Omit<UsageReportRequest, "apiKey">) =>
        reportUsage({ apiKey, ...options }),
      ),
    );
};

const position = (value: string): number => {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be the position of an event.");
  return Number(value);
};

const usageText = (report: UsageReport): string => {
  const { apiKey, month, asOf, finalUntil, characters, requests, voided, quota, byDay, byEngine, byVoice } =
    report;
  const head = fields({
    key: apiKey,
    month,
    "as of": asOf,
    "final until": finalUntil,
    characters: count(characters),
    requests: count(requests),
    voided: voidedText(voided),
    corrections: correctionsText(report.corrections),
    quota: quotaText(quota),
  });
  return [head, totalsTable("day", byDay), totalsTable("engine", byEngine), totalsTable("voice", byVoice)]
    .filter((part) => part !== "")
    .join("\n\n");
};

type Totals<Name extends string> = Record<Name, string> & Pick<UsageReport, "characters" | "requests">;

const totalsTable = <Name extends string>(name: Name, rows: readonly Totals<Name>[]): string =>
  table(
    [name, "characters", "requests"],
    rows.map((row) => [row[name], count(row.characters), count(row.requests)]),
    "",
  );

const voidedText = ({ characters, requests }: UsageReport["voided"]): string | undefined =>
  requests === 0 ? undefined : `${count(characters)} characters, ${count(requests)} requests`;

const correctionsText = (corrections: UsageReport["corrections"]): string | undefined =>
  corrections
    ?.map(
      ({ at, month, characters, requests }) =>
        `${count(characters)} characters, ${count(requests)} requests are charged in ${month}: a wrong clock, corrected at ${at}`,
    )
    .join("; ");

const quotaText = (quota: UsageReport["quota"]): string | undefined =>
  quota === null ? "unlimited" : quota === undefined ? undefined : count(quota);
