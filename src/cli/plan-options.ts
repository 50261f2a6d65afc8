import { type Command, InvalidArgumentError, Option } from "commander";
import { type Plan, planRequest, tiers } from "../domain/accounts/plan.ts";
import { parse } from "../domain/validation.ts";
import { count } from "./layout.ts";

const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
};

// Not null: commander takes that for an option without a value.
const numberOrUnlimited = (text: string): number | "unlimited" =>
  text === "unlimited" ? text : wholeNumber(text);

/** What a plan is given by on the command line besides its tier; `enterprise` takes both. */
export interface PlanNumbers {
  readonly requestsPerMinute?: number;
  readonly monthlyCharacters?: number | "unlimited";
}
export interface PlanOptions extends PlanNumbers {
  readonly plan: string;
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

/** The plan as it was given, to be parsed. */
export const planGiven = (tier: string, { requestsPerMinute, monthlyCharacters }: PlanNumbers): object => ({
  tier,
  ...(requestsPerMinute !== undefined && { requestsPerMinute }),
  ...(monthlyCharacters !== undefined && {
    monthlyCharacters: monthlyCharacters === "unlimited" ? null : monthlyCharacters,
  }),
});

/** @throws {Invalid} when the numbers do not fit the tier */
export const planOf = (tier: string, numbers: PlanNumbers): Plan =>
  parse(planRequest, planGiven(tier, numbers));

export const planText = ({ tier, requestsPerMinute, monthlyCharacters }: Plan): string =>
  `${tier}: ${count(requestsPerMinute)} requests a minute, ${
    monthlyCharacters === null ? "no monthly limit" : `${count(monthlyCharacters)} characters a month`
  }`;
