import { type Command, InvalidArgumentError } from "commander";
import { type NewVerification, verificationRequest } from "../../application/accounts/origin-verification.ts";
import {
  type NewWebsite,
  newName,
  newOrigins,
  registration,
  type WebsiteDetails,
} from "../../application/accounts/websites.ts";
import type { Erasure } from "../../application/admin/erase-website.ts";
import type { WebsiteRecord } from "../../application/admin/website-record.ts";
import { lostName } from "../../domain/accounts/website.ts";
import { storedConfig } from "../../domain/accounts/website-config.ts";
import { parse } from "../../domain/validation.ts";
import { fields, table } from "../columns.ts";
import {
  operator,
  print,
  printing,
  type Reads,
  type Register,
  type WithArchives,
  withArchives,
  writing,
} from "../command.ts";
import { confirm } from "../confirm.ts";
import { readJson } from "../json-file.ts";
import { type PageTags, pageTags } from "../page-tags.ts";
import { type PlanOptions, planGiven, planText, withPlanOptions } from "../plan-options.ts";

export const registerWebsiteCommands: Register = (program, actions) => {
  const { withServices, read } = actions;
  const website = program.command("website").description("manage websites");

  withPlanOptions(website.command("create <name>"))
    .description("register a website with a key and a secret, which is shown once")
    .option("--origin <origin...>", "origins of its pages, e.g. https://example.com")
    .action(
      printing(newWebsite, (name: string, options: PlanOptions & { origin?: string[] }) => {
        const plan = planGiven(options.plan, options);
        const given = parse(registration, { name, origins: options.origin, plan });
        return withServices(({ websites }) => websites.register(given, operator), writing);
      }),
    );

  website
    .command("list")
    .description("list websites, oldest first")
    .action(read(websiteTable, { websites: "all" }, ({ websites }) => websites.list()));

  const show = read(
    websiteText,
    (id: string) => ({ websites: [id] }),
    ({ websites }, id) => websites.get(id),
  );
  const showEverything = read(recordText, everythingOf, ({ readWebsiteRecord }, id) => readWebsiteRecord(id));
  website
    .command("show <id>")
    .description("show a website and its configuration")
    .option("--everything", "all that is stored about it, without secrets, as JSON")
    .action(async function (this: Command, id: string, { everything }: { everything?: true }) {
      await (everything ? showEverything : show).call(this, id);
    });

  website
    .command("config <id> <file>")
    .description("replace the configuration from a JSON file, or from standard input for -")
    .action(
      printing(websiteText, async (id: string, file: string) => {
        const config = parse(storedConfig, await readJson(file));
        return withServices(({ websites }) => websites.configure(id, config, operator), writing);
      }),
    );

  website
    .command("rename <id> <name>")
    .description("change the website's name")
    .action(
      printing(websiteText, (id: string, given: string) => {
        const { name } = parse(newName, { name: given });
        return withServices(({ websites }) => websites.rename(id, name, operator), writing);
      }),
    );

  website
    .command("tag <id>")
    .description("print the tag of its pages, and tags of this release at permanent addresses, which it pins")
    .option(
      "--url <url>",
      "the URL of the service for pages (default: PUBLIC_URL, or the address of this machine)",
      serviceUrl,
    )
    .action(
      printing(tagsText, (id: string, { url }: { url?: string }) =>
        withServices(
          async ({ keys, websites, pinPageScripts, publicUrl }) => {
            await websites.get(id);
            const key = keys.list(id).find(({ status }) => status === "active");
            return pageTags(url ?? publicUrl, key?.apiKey ?? "YOUR_API_KEY", await pinPageScripts(operator));
          },
          { ...writing, reads: { websites: [id], keys: "all" } },
        ),
      ),
    );

  registerOriginCommands(website, actions);
  registerEraseCommand(website, actions);
};

const registerEraseCommand: Register = (website, { withServices }) => {
  withArchives(website.command("erase <id>"))
    .description(
      "erase a website for good: delete the key of its name and origins, and its private audio; end its keys; remove its credentials, lexicons and webhooks",
    )
    .option("--yes", "do not ask for a confirmation")
    .action(async (id: string, { yes, archive }: { yes?: true } & WithArchives, command: Command) => {
      if (!yes) await confirm(`The website ${id} is erased for good.`, "erase");
      const access = { ...writing, reads: { archives: archive } };
      const erasure = await withServices(({ eraseWebsite }) => eraseWebsite(id, operator), access);
      print(command, erasure, erasureText);
    });
};

const erasureText = ({ websiteId, erasedAt, keys, deletedAudio, stays }: Erasure): string =>
  [
    fields({
      website: websiteId,
      erased: erasedAt,
      "ended keys": keys.join(" ") || "none",
      "private audio deleted": String(deletedAudio),
    }),
    "Running instances delete what their requests in progress still store. If one was killed meanwhile, repeat the command.",
    stays.length === 0
      ? "Nothing of it stays in the log but its usage, under its id."
      : "These events stay, because seals cover them: without them, nothing after them could be proven.",
    table(
      ["position", "stream", "event", "holds"],
      stays.map(({ position, stream, type, holds }) => [String(position), stream, type, holds]),
      "",
    ),
  ]
    .join("\n\n")
    .trimEnd();

/** What the record of a website is read from. */
const everythingOf = (id: string): Reads => ({
  websites: [id],
  keys: "all",
  credentials: [id],
  lexicons: [id],
  webhooks: "all",
  deliveries: "all",
});

const recordText = (record: WebsiteRecord): string => JSON.stringify(record, null, 2);

const registerOriginCommands: Register = (website, { withServices }) => {
  website
    .command("origins <id> [origins...]")
    .description("replace the website's origins")
    .option("--none", "remove all origins")
    .action(
      printing(websiteText, (id: string, given: string[], { none }: { none?: true }) => {
        if ((given.length === 0) !== (none === true)) {
          website.error("error: give the origins, or --none", { exitCode: 2 });
        }
        const { origins } = parse(newOrigins, { origins: given });
        return withServices(({ websites }) => websites.setOrigins(id, origins, operator), writing);
      }),
    );

  website
    .command("verification <id> <origin>")
    .description("issue a token that verifies an origin; it is shown once")
    .action(
      printing(newVerification, (id: string, given: string) => {
        const { origin } = parse(verificationRequest, { origin: given });
        return withServices((services) => services.originVerification.issue(id, origin, operator), writing);
      }),
    );
};

const serviceUrl = (given: string): string => {
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError("It must be an http or https URL.");
  return url.origin + url.pathname.replace(/\/+$/, "");
};

const tagsText = ({ url, tag, pinned, pinnedScript, scriptSrc }: PageTags): string =>
  [
    ...(isOfThisMachine(url)
      ? [`Only this machine reaches ${url}. For other readers, set PUBLIC_URL, or give --url.`]
      : []),
    "The tag, which follows each release of the service:",
    tag,
    "The modules of this release, for ever and with integrity:",
    pinned,
    `A Content-Security-Policy must allow the inline import map: script-src ${scriptSrc}`,
    "The same as one script, for pages without modules or with an import map of their own:",
    pinnedScript,
  ].join("\n\n");

const isOfThisMachine = (url: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);

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
    all.map(({ id, name, registeredAt, origins, lost = [] }) => [
      ...[id, name, registeredAt],
      [...origins, ...(lost.includes("origins") ? [lostName] : [])].join(" "),
    ]),
    "There is no website yet.",
  );

const websiteText = (details: WebsiteDetails): string => {
  const { id, name, origins, lost, registeredAt, storedConfig, config } = details;
  return fields({
    website: id,
    name,
    origins: origins.join(" ") || "none",
    lost: lost && `${lost.join(", ")}: no key here decrypts what is stored`,
    registered: registeredAt,
    configured: JSON.stringify(storedConfig),
    "in effect": JSON.stringify(config),
  });
};
