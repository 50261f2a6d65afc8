#!/usr/bin/env node
import type { WithServices } from "./cli/command.ts";
import { createProgram, run } from "./cli/program.ts";
import { registerProjectionCommands } from "./cli/projections.ts";
import { composeCore } from "./compose/core.ts";
import { openProjectionServer } from "./compose/projection-server.ts";
import { createLog } from "./log.ts";
import { readSettings } from "./settings.ts";

/** Opens the log beside a service that may be running: both see what the other writes. Snapshots are the service's. */
const withServices: WithServices = async (work, { writes } = { writes: false }) => {
  const options = { keepSnapshots: false, readOnly: !writes };
  const core = await composeCore(readSettings(), createLog("silent"), options);
  try {
    return await work(core);
  } finally {
    await core.close();
  }
};

// A reader that has had enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const program = createProgram(withServices);
registerProjectionCommands(program, async () => openProjectionServer(readSettings()));
process.exitCode = await run(program, process.argv);
