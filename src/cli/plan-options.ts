import { type Command, InvalidArgumentError, Option } from "commander";
import { type Plan, planOrTier, tiers } from "../domain/plan.ts";
import { parse } from "../domain/validation.ts";
import { count } from "./layout.ts";

const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
};

const numberOrUnlimited = (text: string): number | null => (text === "unlimited" ? null : wholeNumber(text));

/** What a plan is given by on the command line; `enterprise` takes both numbers. */
export interface PlanOptions {
  readonly plan?: string;
  readonly requestsPerMinute?: number;
  readonly monthlyCharacters?: number | null;
}

export const withPlanNumbers = (command: Command): Command =>
  command
    .option("--requests-per-minute <number>", "enterprise: requests a minute", wholeNumber)
    .option(
      "--monthly-characters <number>",
      "enterprise: characters a month, or unlimited",
      numberOrUnlimited,
    );

export const withPlanOptions = (command: Command): Command =>
  withPlanNumbers(
    command.addOption(new Option("--plan <tier>", "the key's plan").choices(tiers).default("free")),
  );

/** @throws {Invalid} when the numbers do not fit the tier */
export const planOf = (tier: string, { requestsPerMinute, monthlyCharacters }: PlanOptions): Plan =>
  parse(planOrTier, {
    tier,
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(monthlyCharacters !== undefined && { monthlyCharacters }),
  });

export const planText = ({ tier, requestsPerMinute, monthlyCharacters }: Plan): string =>
  `${tier}: ${count(requestsPerMinute)} requests a minute, ${
    monthlyCharacters === null ? "no monthly limit" : `${count(monthlyCharacters)} characters a month`
  }`;
