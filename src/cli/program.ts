import { Command, CommanderError, type OutputConfiguration } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { Archived, Invalid } from "../domain/errors.ts";
import { createActions, type Register, Remarked, type WithServices } from "./command.ts";
import { registerAudioCommands } from "./commands/audio.ts";
import { registerAuditCommand } from "./commands/audit.ts";
import { registerSystemVoiceCommands, registerVoiceCommands } from "./commands/catalog.ts";
import { registerClockCommands } from "./commands/clock.ts";
import { registerCredentialsCommands } from "./commands/credentials.ts";
import { registerKeyCommands, registerSecretCommands } from "./commands/keys.ts";
import { registerLexiconCommands } from "./commands/lexicons.ts";
import { registerUsageCommand } from "./commands/usage.ts";
import { registerVoicesCommands } from "./commands/voices.ts";
import { registerWebhookCommands } from "./commands/webhooks.ts";
import { registerWebsiteCommands } from "./commands/websites.ts";

const registrations: readonly Register[] = [
  registerWebsiteCommands,
  registerKeyCommands,
  registerSecretCommands,
  registerCredentialsCommands,
  registerLexiconCommands,
  registerWebhookCommands,
  registerVoiceCommands,
  registerVoicesCommands,
  registerSystemVoiceCommands,
  registerAudioCommands,
  registerUsageCommand,
  registerAuditCommand,
  registerClockCommands,
];

const exitCodes = { done: 0, failed: 1, misused: 2, remarked: 2, archived: 2 } as const;

export const createProgram = (withServices: WithServices, output: OutputConfiguration = {}): Command => {
  const program = new Command("voxledger")
    .description("The operator's and auditor's command line.")
    .version(packageJson.version, "--version", "print the version of the program")
    .option("--json", "print JSON, for scripts")
    .configureOutput(output)
    .exitOverride();
  const actions = createActions(withServices);
  for (const register of registrations) register(program, actions);
  return program;
};

/**
 * Runs one command line. Resolves with the exit code: 0 success, 1 failure, 2 invalid usage,
 * success with remarks, or a missing archive. A failure prints one line on standard error.
 */
export const run = async (program: Command, argv: readonly string[]): Promise<number> => {
  try {
    await program.parseAsync(argv);
    return exitCodes.done;
  } catch (error) {
    // commander has already printed its errors
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misused;
    if (error instanceof Remarked) return exitCodes.remarked;
    program.configureOutput().writeErr?.(`error: ${messageOf(error)}\n`);
    return error instanceof Archived ? exitCodes.archived : exitCodes.failed;
  }
};

const messageOf = (error: unknown): string => {
  if (error instanceof Archived) return `${error.message} Name the file with --archive.`;
  if (error instanceof Invalid) return error.problems.map(problemText).join("; ");
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
};

const problemText = ({ path, message }: Invalid["problems"][number]): string =>
  path.length === 0 ? message : `${path.join(".")}: ${message}`;
