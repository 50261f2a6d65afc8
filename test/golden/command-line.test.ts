import type { Argument, Command, Option } from "commander";
import { registerArchiveCommand } from "../../src/cli/commands/archive.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import { registerBackupCommands } from "../../src/cli/commands/backup.ts";
import { registerInstanceCommands } from "../../src/cli/commands/instances.ts";
import { registerMasterKeyCommands } from "../../src/cli/commands/master-key.ts";
import { registerModelCommands } from "../../src/cli/commands/models.ts";
import { registerProjectionCommands } from "../../src/cli/commands/projections.ts";
import { createProgram } from "../../src/cli/program.ts";
import { expectGolden } from "./golden.ts";

const unused = async (): Promise<never> => {
  throw new Error("No command runs in this test.");
};

const noText = async function* (): AsyncGenerator<string> {};

const given = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== false));

const unlessEmpty = (lists: Readonly<Record<string, readonly unknown[]>>): object =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));

const argument = (one: Argument) => {
  const { required, variadic, argChoices, defaultValue } = one;
  return { name: one.name(), ...given({ required, variadic, choices: argChoices, default: defaultValue }) };
};

const option = ({ flags, mandatory, argChoices, defaultValue, hidden, envVar }: Option) => ({
  flags,
  ...given({ mandatory, choices: argChoices, default: defaultValue, hidden, environment: envVar }),
});

const tree = (command: Command): object => ({
  name: command.name(),
  ...unlessEmpty({
    aliases: command.aliases(),
    arguments: command.registeredArguments.map(argument),
    options: command.options.map(option),
    commands: command.commands.map(tree),
  }),
});

describe("golden files: the command line", () => {
  it("has the recorded commands, arguments, options and defaults", () => {
    const program = createProgram(unused);
    registerProjectionCommands(program, unused, () => "");
    registerModelCommands(program, unused);
    registerAuditProofCommands(program, { exportAudit: noText, verifyLog: unused, verifierKeys: unused });
    registerMasterKeyCommands(program, unused);
    registerArchiveCommand(program, unused);
    registerInstanceCommands(program, unused);
    registerBackupCommands(program, unused, unused);
    expectGolden("command-line.json", tree(program));
  });
});
