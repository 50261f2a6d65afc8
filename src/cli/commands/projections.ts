import type { Command } from "commander";
import { userProjectionNames, userProjections } from "../../../projections/eventstoredb/user-projections.ts";
import {
  type InstalledProjection,
  installUserProjections,
} from "../../application/user-projections/install.ts";
import {
  isComplete,
  readUserProjectionStatuses,
  type UserProjectionStatus,
} from "../../application/user-projections/statuses.ts";
import { NotFound } from "../../domain/errors.ts";
import type { ProjectionServer } from "../../eventstore/projection-server.ts";
import { table } from "../columns.ts";
import { print, printing, Remarked } from "../command.ts";

/** Adds the commands for user projections of an EventStoreDB server. */
export const registerProjectionCommands = (
  program: Command,
  openServer: () => Promise<ProjectionServer>,
  streamPrefix: () => string,
): void => {
  const projections = program
    .command("projections")
    .description("manage the EventStoreDB user projections for catalog, rate and monthly quota");

  projections
    .command("install")
    .description(
      "create or update the projections on the server in EVENT_STORE, and wait until they have read the log",
    )
    .action(async (_options: object, command: Command) => {
      const wanted = await userProjections(streamPrefix());
      const installed = await withServer(openServer, (server) => installUserProjections(server, wanted));
      print(command, installed, installedTable);
      const failed = installed.filter((one) => isOfThisRelease(one) && !isComplete(one));
      const kept = installed.filter(({ done }) => done === "kept");
      const problems = [
        ...(failed.length > 0 ? [`not ready: ${failed.map(nameAndReason).join(", ")}`] : []),
        ...(kept.length > 0
          ? [`earlier versions not removed, so run it again: ${kept.map(nameAndReason).join(", ")}`]
          : []),
      ];
      if (problems.length > 0) throw new Error(problems.join("; "));
    });

  projections
    .command("status")
    .description(
      "show whether the projections run: exit code 0 if all do and have read the log, 1 if one does not run, 2 if one is still reading",
    )
    .action(async (_options: object, command: Command) => {
      const names = userProjectionNames(streamPrefix());
      const statuses = await withServer(openServer, (server) => readUserProjectionStatuses(server, names));
      print(command, statuses, statusTable);
      const stopped = statuses.filter(({ state }) => state !== "running" && state !== "changing");
      if (stopped.length > 0) throw new Error(`not running: ${stopped.map(nameAndState).join(", ")}`);
      if (!statuses.every(isComplete)) throw new Remarked();
    });

  projections
    .command("show [name]")
    .description("print the scripts of all projections, or of one, for manual installation")
    .action(
      printing(scriptsText, async (name?: string) => {
        const all = await userProjections(streamPrefix());
        const shown = all.filter((one) => name === undefined || one.name === name);
        if (shown.length > 0) return shown.map(({ name, query }) => ({ name, query }));
        throw new NotFound(`There is no such projection, only ${all.map((one) => one.name).join(", ")}.`);
      }),
    );
};

const withServer = async <T>(
  openServer: () => Promise<ProjectionServer>,
  work: (server: ProjectionServer) => Promise<T>,
): Promise<T> => {
  const server = await openServer();
  try {
    return await work(server);
  } finally {
    await server.close();
  }
};

const scriptsText = (scripts: readonly { readonly query: string }[]): string =>
  scripts.map(({ query }) => query).join("\n");

const isOfThisRelease = ({ done }: InstalledProjection): boolean => done === "created" || done === "updated";

const nameAndState = ({ name, state }: UserProjectionStatus): string => `${name} (${state})`;

const nameAndReason = (projection: UserProjectionStatus): string => {
  const { name, state, reason, progress } = projection;
  const why = reason ?? (progress === undefined ? undefined : `${percent(progress)} of the log`);
  return why === undefined ? nameAndState(projection) : `${name} (${state}: ${why})`;
};

/** Rounds down: 100 % means that nothing is left. */
const percent = (progress: number | undefined): string =>
  progress === undefined ? "" : `${Math.floor(progress * 10) / 10} %`;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

const installedTable = (installed: readonly InstalledProjection[]): string =>
  table(
    ["name", "was", "now", "read", "why"],
    installed.map(({ name, done, state, progress, reason = "", fault }) => {
      const why = fault === undefined ? reason : `${reason} (was faulted: ${fault})`;
      return [name, done, state, percent(progress), oneLine(why)];
    }),
    "none",
  );

const statusTable = (statuses: readonly UserProjectionStatus[]): string =>
  table(
    ["name", "state", "read", "why"],
    statuses.map(({ name, state, progress, reason = "" }) => [
      name,
      state,
      percent(progress),
      oneLine(reason),
    ]),
    "none",
  );
