#!/usr/bin/env node
import { composeArchiveToFile } from "./bootstrap/commands/archive-to-file.ts";
import { composeAskInstance } from "./bootstrap/commands/ask-instance.ts";
import { composeAuditProof } from "./bootstrap/commands/audit-proof.ts";
import { composeRestore } from "./bootstrap/commands/backup/restore-backup.ts";
import { composeBackup } from "./bootstrap/commands/backup/take-backup.ts";
import { composeCommandLine } from "./bootstrap/commands/command-line.ts";
import { composeModelCheck } from "./bootstrap/commands/model-check.ts";
import { composeReplaceMasterKey } from "./bootstrap/commands/replace-master-key.ts";
import { composeSpeakSamplesNow } from "./bootstrap/commands/speak-samples-now.ts";
import { openProjectionServer } from "./bootstrap/event-log/open-event-store.ts";
import type { WithServices } from "./cli/command.ts";
import { registerArchiveCommand } from "./cli/commands/archive.ts";
import { registerAuditProofCommands } from "./cli/commands/audit-proof.ts";
import { registerBackupCommands } from "./cli/commands/backup.ts";
import { registerInstanceCommands } from "./cli/commands/instances.ts";
import { registerMasterKeyCommands } from "./cli/commands/master-key.ts";
import { registerModelCommands } from "./cli/commands/models.ts";
import { registerProjectionCommands } from "./cli/commands/projections.ts";
import { registerSampleCommands } from "./cli/commands/voices.ts";
import { createProgram, run } from "./cli/program.ts";
import { readSettings } from "./settings/read-settings.ts";

/**
 * Reads the settings without those of the Wyoming protocol, which commands do not serve. They would
 * be invalid until a command has issued the key of the protocol.
 */
const settings = () => readSettings({ ...process.env, WYOMING_PORT: undefined });

/**
 * Opens the log, which a running service may have open too. Each process sees the other's events.
 */
const withServices: WithServices = async (work, access = { writes: false }) => {
  const services = await composeCommandLine(settings(), access);
  try {
    return await work(services);
  } finally {
    await services.close();
  }
};

// A reader that stops early (`| head`) is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const program = createProgram(withServices);
registerProjectionCommands(
  program,
  async () => openProjectionServer(settings()),
  () => settings().streamPrefix,
);
registerAuditProofCommands(program, composeAuditProof(settings));
registerMasterKeyCommands(program, composeReplaceMasterKey(settings));
registerBackupCommands(program, composeBackup(settings, process.env), composeRestore(settings));
registerArchiveCommand(program, composeArchiveToFile(settings));
registerModelCommands(program, composeModelCheck(settings));
registerSampleCommands(program, composeSpeakSamplesNow(settings));
registerInstanceCommands(program, composeAskInstance(settings));
process.exitCode = await run(program, process.argv);
