import { type Command, InvalidArgumentError } from "commander";
import type { DailyUsage } from "../../ledger/reports/daily-usage.ts";
import type { UsageReport, UsageReportRequest } from "../../ledger/reports/usage-report.ts";
import { count, fields, table } from "../columns.ts";
import { type Register, type WithArchives, withArchives } from "../command.ts";

type KeyOptions = Omit<UsageReportRequest, "apiKey">;
interface DayOptions {
  readonly all?: true;
  readonly day?: string;
}

export const registerUsageCommand: Register = (program, { read }) => {
  const showKey = read(
    usageText,
    (_: string, { archive }: KeyOptions & WithArchives) => ({ archives: archive }),
    ({ reportUsage }, apiKey: string, { archive, ...options }: KeyOptions & WithArchives) =>
      reportUsage({ apiKey, ...options }),
  );
  const showDay = read(dayText, { keys: "all" }, ({ reportDailyUsage }, day: string) =>
    reportDailyUsage(day),
  );
  withArchives(program.command("usage [apiKey]"))
    .description("show a key's usage in a month, by day, engine and voice; or all keys' usage of a day")
    .option("--month <yyyy-mm>", "the month (UTC); default: the current one, or that of --as-of")
    .option(
      "--as-of <time>",
      "usage up to this time (UTC); a date means its midnight, which excludes that day",
    )
    .option("--as-of-position <position>", "usage up to this position of the log, as in an audit", position)
    .option("--all", "all keys instead of one; needs --day")
    .option("--day <day>", "with --all: the day (UTC), yyyy-mm-dd, today or yesterday")
    .action(async function (
      this: Command,
      apiKey: string | undefined,
      { all, day, ...options }: KeyOptions & DayOptions & WithArchives,
    ) {
      const isOfKey = apiKey !== undefined && !all && day === undefined;
      if (isOfKey) return await showKey.call(this, apiKey, options);
      if (apiKey !== undefined || !all || day === undefined)
        this.error("error: usage needs either an API key, or --all with --day");
      const others = this.options.filter((option) => option.attributeName() in options);
      if (others.length === 0) return await showDay.call(this, day);
      const why = options.archive ? ": the totals of a day are in the log, also of archived journals" : "";
      this.error(`error: usage --all takes no ${others.map(({ long }) => long).join(", ")}${why}`);
    });
};

const dayText = ({ day, asOf, characters, requests, keys }: DailyUsage): string =>
  [
    fields({ day, "as of": asOf, characters: count(characters), requests: count(requests) }),
    table(
      ["website", "key", "characters", "requests"],
      keys.map((key) => [key.websiteId, key.apiKey, count(key.characters), count(key.requests)]),
      "No key was charged.",
    ),
  ].join("\n\n");

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
