import type { Command } from "commander";
import { type NewVerification, verificationRequest } from "../application/access/origin-verification.ts";
import {
  type NewWebsite,
  newOrigins,
  registration,
  type WebsiteDetails,
} from "../application/accounts/websites.ts";
import { storedConfig } from "../domain/accounts/website-config.ts";
import { parse } from "../domain/validation.ts";
import { operator, print, type Register, reading, writing } from "./command.ts";
import { readJson } from "./json-file.ts";
import { fields, table } from "./layout.ts";
import { type PlanOptions, planGiven, planText, withPlanOptions } from "./plan-options.ts";

export const registerWebsiteCommands: Register = (program, withServices) => {
  const website = program.command("website").description("manage websites");

  withPlanOptions(website.command("create <name>"))
    .description("register a website with a key and a secret, which is shown once")
    .option("--origin <origin...>", "origins of its pages, e.g. https://example.com")
    .action(async (name: string, options: PlanOptions & { origin?: string[] }, command: Command) => {
      const plan = planGiven(options.plan, options);
      const given = parse(registration, { name, origins: options.origin, plan });
      print(
        command,
        await withServices(({ websites }) => websites.register(given, operator), writing),
        newWebsite,
      );
    });

  website
    .command("list")
    .description("list websites, oldest first")
    .action(async (_options, command: Command) => {
      print(
        command,
        await withServices(async ({ websites }) => websites.list(), reading({ websites: "all" })),
        websiteTable,
      );
    });

  website
    .command("show <id>")
    .description("show a website and its configuration")
    .action(async (id: string, _options, command: Command) => {
      print(
        command,
        await withServices(async ({ websites }) => websites.get(id), reading({ websites: [id] })),
        websiteText,
      );
    });

  website
    .command("config <id> <file>")
    .description("replace the configuration from a JSON file, or from standard input for -")
    .action(async (id: string, file: string, _options, command: Command) => {
      const config = parse(storedConfig, await readJson(file));
      print(
        command,
        await withServices(({ websites }) => websites.configure(id, config, operator), writing),
        websiteText,
      );
    });

  website
    .command("origins <id> [origins...]")
    .description("replace the website's origins")
    .option("--none", "remove all origins")
    .action(async (id: string, given: string[], { none }: { none?: true }, command: Command) => {
      if ((given.length === 0) !== (none === true)) {
        command.error("error: give the origins, or --none", { exitCode: 2 });
      }
      const { origins } = parse(newOrigins, { origins: given });
      print(
        command,
        await withServices(({ websites }) => websites.setOrigins(id, origins, operator), writing),
        websiteText,
      );
    });

  website
    .command("verification <id> <origin>")
    .description("issue a token that verifies an origin; it is shown once")
    .action(async (id: string, given: string, _options, command: Command) => {
      const { origin } = parse(verificationRequest, { origin: given });
      print(
        command,
        await withServices(
          ({ originVerification }) => originVerification.issue(id, origin, operator),
          writing,
        ),
        newVerification,
      );
    });
};

const newWebsite = ({ id, name, origins, plan, apiKey, secretId, apiSecret }: NewWebsite): string =>
  fields({
    website: id,
    name,
    origins: origins.join(" ") || "none",
    plan: planText(plan),
    key: apiKey,
    "secret id": secretId,
    secret: `${apiSecret} (shown this once)`,
  });

const newVerification = ({ token, origin, expiresAt }: NewVerification): string =>
  fields({ origin, token: `${token} (shown this once)`, expires: expiresAt });

const websiteTable = (all: readonly WebsiteDetails[]): string =>
  table(
    ["id", "name", "registered", "origins"],
    all.map(({ id, name, registeredAt, origins }) => [id, name, registeredAt, origins.join(" ")]),
    "There is no website yet.",
  );

const websiteText = ({ id, name, origins, registeredAt, storedConfig, config }: WebsiteDetails): string =>
  fields({
    website: id,
    name,
    origins: origins.join(" ") || "none",
    registered: registeredAt,
    configured: JSON.stringify(storedConfig),
    "in effect": JSON.stringify(config),
  });
