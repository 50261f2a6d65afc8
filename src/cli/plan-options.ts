import { type Command, InvalidArgumentError, Option } from "commander";
import { customTiers, type Plan, tiers } from "../domain/accounts/plan.ts";
import { planRequest } from "../domain/accounts/plan-request.ts";
import { parse } from "../domain/validation.ts";
import { count } from "./columns.ts";

export const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
};

// Unlimited is not null here: commander treats null as an option without a value.
const numberOrUnlimited = (text: string): number | "unlimited" =>
  text === "unlimited" ? text : wholeNumber(text);

/** The limits of a plan on the command line. A tier without fixed limits needs both. */
export interface PlanNumbers {
  readonly requestsPerMinute?: number;
  readonly monthlyCharacters?: number | "unlimited";
}
export interface PlanOptions extends PlanNumbers {
  readonly plan: string;
}

const custom = customTiers.join(", ");

export const withPlanNumbers = (command: Command): Command =>
  command
    .option("--requests-per-minute <number>", `${custom}: requests per minute`, wholeNumber)
    .option(
      "--monthly-characters <number>",
      `${custom}: characters per month, or unlimited`,
      numberOrUnlimited,
    );

export const withPlanOptions = (command: Command): Command =>
  withPlanNumbers(
    command.addOption(new Option("--plan <tier>", "the key's plan").choices(tiers).default("free")),
  );

/** The plan before it is parsed. */
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
