import type { Command } from "commander";
import type { OriginVerification } from "../application/access/origin-verification.ts";
import type { CredentialsService } from "../application/accounts/credentials.ts";
import type { Keys } from "../application/accounts/keys.ts";
import type { Websites } from "../application/accounts/websites.ts";
import type { CatalogService } from "../application/catalog/catalog.ts";
import type { CommandContext } from "../application/commands.ts";
import type { Audit } from "../application/usage/audit.ts";
import type { ReportUsage } from "../application/usage/usage-report.ts";

/** What commands work with. */
export interface Services {
  readonly websites: Websites;
  readonly keys: Keys;
  readonly originVerification: OriginVerification;
  readonly credentials: CredentialsService;
  readonly catalog: CatalogService;
  readonly audit: Audit;
  readonly reportUsage: ReportUsage;
}

/** What a command reads beside the streams that it decides on, by id. */
export interface Reads {
  readonly websites?: readonly string[] | "all";
  readonly keys?: readonly string[] | "all";
  /** By website. */
  readonly credentials?: readonly string[] | "all";
  readonly catalog?: true;
  /** The key whose characters of this month are shown. */
  readonly usageOf?: string;
}

/** A command that only reads opens a log that exists and leaves it as it is; one that `writes` may begin one. */
export interface Access {
  readonly writes: boolean;
  readonly reads?: Reads;
}

export const writing: Access = { writes: true };
export const reading = (reads: Reads): Access => ({ writes: false, reads });

/** Opens the services for as long as the work takes, for reading alone unless told otherwise. */
export type WithServices = <T>(work: (services: Services) => Promise<T>, access?: Access) => Promise<T>;

/** Adds a file's commands to the program. */
export type Register = (program: Command, withServices: WithServices) => void;

/** Who commands, as events tell it. */
export const operator: CommandContext = { actor: "cli" };

/** Prints a result: for people as `human` words it, with `--json` as one JSON document for scripts. */
export const print = <T>(command: Command, result: T, human: (result: T) => string): void => {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  command.configureOutput().writeOut?.(`${json ? JSON.stringify(result, null, 2) : human(result)}\n`);
};
