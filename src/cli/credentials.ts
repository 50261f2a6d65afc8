import { Argument, type Command } from "commander";
import type { CredentialsDetails, Resealing } from "../application/accounts/credentials.ts";
import { type ByokEngine, byokEngines, parseCredentials } from "../domain/accounts/byok-providers.ts";
import { operator, print, type Register, reading, writing } from "./command.ts";
import { readJson } from "./json-file.ts";
import { fields, table } from "./layout.ts";

/** Credentials are read from a file or standard input: every user of the machine can see arguments. */
export const registerCredentialsCommands: Register = (program, withServices) => {
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
    .action(async (website: string, engine: ByokEngine, file: string, _options, command: Command) => {
      const given = parseCredentials(engine, asTaken(await readJson(file)));
      print(
        command,
        await withServices((services) => services.credentials.set(website, engine, given, operator), writing),
        credentialsText,
      );
    });

  credentials
    .command("list <website>")
    .description("list the engines with credentials")
    .action(async (website: string, _options, command: Command) => {
      print(
        command,
        await withServices(
          async (services) => services.credentials.list(website),
          reading({ websites: [website], credentials: [website] }),
        ),
        credentialsTable,
      );
    });

  credentials
    .command("remove <website>")
    .description("remove credentials and their voices")
    .addArgument(engineArgument())
    .action(async (website: string, engine: ByokEngine, _options, command: Command) => {
      await withServices((services) => services.credentials.remove(website, engine, operator), writing);
      print(command, { engine, removed: true }, () => `The credentials for ${engine} are removed.`);
    });

  credentials
    .command("reseal")
    .description("seal all credentials under the current MASTER_KEY; previous keys are no longer needed")
    .action(async (_options, command: Command) => {
      const done = await withServices((services) => services.credentials.reseal(operator), {
        writes: true,
        reads: { credentials: "all" },
      });
      print(command, done, resealingText);
      if (done.unopened.length > 0) {
        throw new Error(
          "some credentials cannot be opened: add their key to MASTER_KEY_PREVIOUS, or set them again",
        );
      }
    });
};

const engineArgument = (): Argument => new Argument("<engine>", "the engine's code").choices(byokEngines);

/** The key file of a Google service account has the members of `serviceAccount`. */
const asTaken = (json: unknown): unknown => {
  const isKeyFile =
    typeof json === "object" && json !== null && "type" in json && json.type === "service_account";
  return isKeyFile ? { serviceAccount: json } : json;
};

const credentialsText = ({ engine, provider, voices, setAt }: CredentialsDetails): string =>
  fields({ engine, provider, voices: String(voices), set: setAt });

const credentialsTable = (all: readonly CredentialsDetails[]): string =>
  table(
    ["engine", "provider", "voices", "set"],
    all.map(({ engine, provider, voices, setAt }) => [engine, provider, String(voices), setAt]),
    "The website has no credentials.",
  );

const resealingText = ({ resealed, current, unopened }: Resealing): string =>
  fields({
    resealed: String(resealed),
    "already under the current key": String(current),
    "cannot be opened":
      unopened.map(({ websiteId, engine }) => `${websiteId} (${engine})`).join(" ") || "none",
  });
