import type { Command } from "commander";
import { userProjections } from "../../../projections/eventstoredb/user-projections.ts";
import {
  type InstalledProjection,
  installUserProjections,
} from "../../application/install-user-projections.ts";
import { NotFound } from "../../domain/errors.ts";
import type { ProjectionServer } from "../../eventstore/projection-server.ts";
import { table } from "../columns.ts";
import { print, printing } from "../command.ts";

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
    .description("create or update the projections on the server in EVENT_STORE")
    .action(async (_options: object, command: Command) => {
      const wanted = await userProjections(streamPrefix());
      const server = await openServer();
      try {
        const installed = await installUserProjections(server, wanted);
        print(command, installed, installedTable);
        const failed = installed.filter(({ done, state }) => done !== "disabled" && state !== "running");
        if (failed.length > 0) throw new Error(`not running: ${failed.map(nameAndReason).join(", ")}`);
      } finally {
        await server.close();
      }
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

const scriptsText = (scripts: readonly { readonly query: string }[]): string =>
  scripts.map(({ query }) => query).join("\n");

const nameAndReason = ({ name, state, reason }: InstalledProjection): string =>
  `${name} (${state}${reason === undefined ? "" : `: ${reason}`})`;

const installedTable = (installed: readonly InstalledProjection[]): string =>
  table(
    ["name", "was", "now", "why"],
    installed.map(({ name, done, state, reason = "", fault }) => {
      const why = fault === undefined ? reason : `${reason} (was faulted: ${fault})`;
      return [name, done, state, why.replace(/\s+/g, " ").trim()];
    }),
    "none",
  );
