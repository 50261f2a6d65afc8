import type { Command } from "commander";
import type { EraseWebsite } from "../application/admin/erase-website.ts";
import type { AdminServices } from "../application/admin/services.ts";
import type { AdminReads } from "../application/admin/views.ts";
import type { AudioReports } from "../application/audio/audio-reports.ts";
import type { DeleteAudio } from "../application/audio/delete-audio.ts";
import type { AcceptClock } from "../application/clock/accept-clock.ts";
import type { CommandContext } from "../application/execute-command.ts";
import type { PageScripts } from "../domain/page-scripts.ts";

/** The services that commands call. */
export interface Services extends AdminServices {
  readonly audioReports: AudioReports;
  readonly deleteAudio: DeleteAudio;
  readonly acceptClock: AcceptClock;
  /** See `Seals.handOver`. */
  readonly handOverSealKey: () => Promise<void>;
  readonly eraseWebsite: EraseWebsite;
  /** Pins the scripts for pages of this release. */
  readonly pinPageScripts: (context: CommandContext) => Promise<{ hash: string; scripts: PageScripts }>;
  /** The URL of the service for pages, without a trailing slash. */
  readonly publicUrl: string;
}

/** The streams that a command reads in addition to the one that it decides on. */
export interface Reads extends AdminReads {
  /** The usage of this month of the keys that are shown. */
  readonly usage?: true;
  /** The files of archived journals, which the log may lack. */
  readonly archives?: readonly string[] | undefined;
}

/**
 * A command that `writes` may create the log. One that only reads opens an existing log read-only.
 */
export interface Access {
  readonly writes: boolean;
  readonly reads?: Reads;
}

export const writing: Access = { writes: true };
export const reading = (reads: Reads): Access => ({ writes: false, reads });

/** Opens the services for the duration of `work`; read-only by default. */
export type WithServices = <T>(work: (services: Services) => Promise<T> | T, access?: Access) => Promise<T>;

/** The option of commands that read single servings. */
export interface WithArchives {
  readonly archive?: readonly string[];
}

export const withArchives = (command: Command): Command =>
  command.option(
    "--archive <file>",
    "a file of archived journals, which the log may lack; may be repeated",
    (path: string, paths: readonly string[] = []) => [...paths, path],
  );

/**
 * A command that has printed its result throws it to exit with code 2: it succeeded, with remarks.
 */
export class Remarked extends Error {
  override readonly name = "Remarked";
}

/** Adds commands to the program. */
export type Register = (program: Command, actions: Actions) => void;

/** The actor in the events of commands. */
export const operator: CommandContext = { actor: "cli" };

/** Prints a result as text, or with `--json` as one JSON document. */
export const print = <T>(command: Command, result: T, human: (result: T) => string): void => {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  command.configureOutput().writeOut?.(`${json ? JSON.stringify(result, null, 2) : human(result)}\n`);
};

/**
 * An action that prints what `work` returns. `work` receives commander's arguments: those of the
 * command, then its options.
 */
export const printing = <Args extends unknown[], T>(
  human: (result: T) => string,
  work: (...args: Args) => Promise<T>,
) =>
  async function (this: Command, ...args: unknown[]): Promise<void> {
    print(this, await work(...(args as Args)), human);
  };

type Work<Args extends unknown[], T> = (services: Services, ...args: Args) => Promise<T> | T;

export type Actions = ReturnType<typeof createActions>;

/**
 * The actions of commands. Those of `write` and `read` open the services at once, and print what
 * `work` returns.
 */
export const createActions = (withServices: WithServices) => ({
  /** Lets commands check their arguments first: nothing is opened for wrong ones. */
  withServices,
  write: <Args extends unknown[], T>(human: (result: T) => string, work: Work<Args, T>) =>
    printing(human, (...args: Args) => withServices((services) => work(services, ...args), writing)),
  read: <Args extends unknown[], T>(
    human: (result: T) => string,
    reads: Reads | ((...args: Args) => Reads),
    work: Work<Args, T>,
  ) =>
    printing(human, (...args: Args) =>
      withServices(
        (services) => work(services, ...args),
        reading(typeof reads === "function" ? reads(...args) : reads),
      ),
    ),
});
