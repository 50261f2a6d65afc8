import { Argument, type Command } from "commander";
import type {
  CredentialsDetails,
  Reencryption,
  WebsiteCredentials,
} from "../../application/accounts/credentials.ts";
import type { SecretOwner } from "../../application/accounts/credentials-cipher.ts";
import { type ByokEngine, byokEngines, parseCredentials } from "../../domain/synthesis/byok-providers.ts";
import { fields, table } from "../columns.ts";
import { operator, print, printing, type Register, reading, writing } from "../command.ts";
import { readJson } from "../json-file.ts";

/**
 * Credentials are read from a file or standard input: every user of the machine can see arguments.
 */
export const registerCredentialsCommands: Register = (program, actions) => {
  const { withServices, write } = actions;
  const credentials = program
    .command("credentials")
    .description("websites' own credentials for BYOK engines");

  credentials
    .command("set <website>")
    .description(
      "set or replace credentials from a JSON file, or from standard input for -; the provider verifies them",
    )
    .addArgument(engineArgument())
    .argument("<file>", "JSON as in the admin API; for gwn also a service account's key file")
    .action(
      printing(credentialsText, async (website: string, engine: ByokEngine, file: string) => {
        const given = parseCredentials(engine, credentialsOf(await readJson(file)));
        return withServices(
          (services) => services.credentials.set(website, engine, given, operator),
          writing,
        );
      }),
    );

  credentials
    .command("list [website]")
    .description("list the engines with credentials, of a website or of all")
    .action(async (website: string | undefined, _options, command: Command) => {
      if (website === undefined) {
        const access = reading({ websites: "all", credentials: "all" });
        const all = await withServices((services) => services.credentials.listAll(), access);
        print(command, all, accountTable);
      } else {
        const access = reading({ websites: [website], credentials: [website] });
        const own = await withServices((services) => services.credentials.list(website), access);
        print(command, own, credentialsTable);
      }
    });

  credentials
    .command("remove <website>")
    .description("remove credentials and their voices")
    .addArgument(engineArgument())
    .action(
      write(removedText, async (services, website: string, engine: ByokEngine) => {
        await services.credentials.remove(website, engine, operator);
        return { engine, removed: true };
      }),
    );

  registerReencryptCommand(credentials, actions);
};

const registerReencryptCommand: Register = (credentials, { withServices }) => {
  credentials
    .command("reencrypt")
    .description(
      "encrypt all credentials, webhooks' secrets, data keys and the naming key under the current MASTER_KEY; previous keys are no longer needed",
    )
    .action(async (_options, command: Command) => {
      const done = await withServices(
        async ({ credentials, handOverSealKey }) => {
          const done = await credentials.reencrypt(operator);
          await handOverSealKey();
          return done;
        },
        { writes: true, reads: { credentials: "all", webhooks: "all" } },
      );
      print(command, done, reencryptionText);
      if (done.unopened.length > 0) {
        throw new Error(
          "some credentials cannot be opened: add their key to MASTER_KEY_PREVIOUS, or set them again",
        );
      }
    });
};

const engineArgument = (): Argument => new Argument("<engine>", "the engine's code").choices(byokEngines);

/** A Google service account's key file becomes the member `serviceAccount`. */
const credentialsOf = (json: unknown): unknown => {
  const isKeyFile =
    typeof json === "object" && json !== null && "type" in json && json.type === "service_account";
  return isKeyFile ? { serviceAccount: json } : json;
};

const credentialsText = ({ engine, provider, voices, setAt, retirement }: CredentialsDetails): string =>
  fields({
    engine,
    provider,
    voices: String(voices),
    set: setAt,
    ...(retirement && { note: retirement.message }),
  });

const removedText = ({ engine }: { engine: ByokEngine }): string =>
  `The credentials for ${engine} are removed.`;

const columns = ["engine", "provider", "voices", "set"];
const rowOf = ({ engine, provider, voices, setAt, retirement }: CredentialsDetails) => [
  engine,
  provider,
  String(voices),
  setAt,
  ...(retirement ? [retirement.message] : []),
];

/** The column of notes exists only if a row has one. */
const columnsOf = (all: readonly CredentialsDetails[]): readonly string[] =>
  all.some(({ retirement }) => retirement) ? [...columns, "note"] : columns;

const credentialsTable = (all: readonly CredentialsDetails[]): string =>
  table(columnsOf(all), all.map(rowOf), "The website has no credentials.");

const accountTable = (all: readonly WebsiteCredentials[]): string =>
  table(
    ["website", ...columnsOf(all)],
    all.map((one) => [one.websiteId, ...rowOf(one)]),
    "No website has credentials.",
  );

const ownerText = (owner: SecretOwner): string => {
  if ("purpose" in owner) return `the ${owner.purpose}`;
  if ("dataKeyOf" in owner) return `the data key of ${owner.dataKeyOf}`;
  if ("personalDataOf" in owner) return `the personal data of ${owner.personalDataOf}`;
  return "webhookId" in owner ? owner.webhookId : `${owner.websiteId} (${owner.engine})`;
};

const reencryptionText = ({ reencrypted, current, unopened }: Reencryption): string =>
  fields({
    reencrypted: String(reencrypted),
    "already under the current key": String(current),
    "cannot be opened": unopened.map(ownerText).join(" ") || "none",
  });
