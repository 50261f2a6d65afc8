import type { Command } from "commander";
import type { ReplacedMasterKey } from "../../application/accounts/replace-lost-key.ts";
import type { CommandContext } from "../../application/execute-command.ts";
import { fields } from "../columns.ts";
import { operator, print } from "../command.ts";
import { confirm } from "../confirm.ts";
import { parseReason } from "../reason.ts";

interface Replacement extends ReplacedMasterKey {
  /** The verifier key of the seals from now on. */
  readonly sealKey: string;
  /** True if the last seal before was of another key. */
  readonly hasNewSealKey: boolean;
}

/**
 * @throws {LossRefused} if the key is not lost
 * @throws {Unavailable}
 * @throws {BadSetting}
 */
export type ReplaceMasterKey = (reason: string, context: CommandContext) => Promise<Replacement>;

interface Options {
  readonly lost?: true;
  readonly reason: string;
  readonly yes?: true;
}

/** Adds the command `master-key`. */
export const registerMasterKeyCommands = (program: Command, replace: ReplaceMasterKey): void => {
  program
    .command("master-key")
    .description("the key that encrypts the installation's secrets")
    .command("replace")
    .description("replace a master key that nobody has any more, and remove what only that key decrypts")
    .option("--lost", "say that the log's master key is lost: rotate it if it is not")
    .requiredOption("--reason <text>", "why, for the audit")
    .option("--yes", "do not ask for a confirmation")
    .action(async ({ lost, reason, yes }: Options, command: Command) => {
      if (!lost) throw new Error("say --lost. A key that is not lost is rotated: docs/operate/master-key.md");
      const why = parseReason(reason);
      if (!yes) await confirm(warning, "lost");
      print(command, await replace(why, operator), replacementText);
    });
};

const warning =
  "Credentials and webhooks that only the lost key decrypts are removed, and audio gets new names. Stop every instance first.";

const listOf = (items: readonly string[]): string => items.join(", ") || "none";

const replacementText = ({
  lostKeyId,
  keyId,
  hasNewNamingKey,
  hasNewSealKey,
  sealKey,
  removedCredentials,
  removedWebhooks,
  lostNames,
}: Replacement): string =>
  fields({
    "lost master key": lostKeyId,
    "new master key": keyId,
    "removed credentials": listOf(
      removedCredentials.map(({ websiteId, engine }) => `${websiteId} (${engine})`),
    ),
    "removed webhooks": listOf(removedWebhooks.map(({ webhookId, url }) => `${webhookId} ${url}`)),
    "lost names and origins": listOf(lostNames),
    audio: hasNewNamingKey
      ? "new names: it is made again when it is requested. Earlier addresses end with the stored audio"
      : "the same names",
    tokens: "those of web pages are void, and pages get new ones. Secrets of keys still work",
    "seal key": `${sealKey}${hasNewSealKey ? " (new: give it to auditors by another way than the log)" : ""}`,
  });
