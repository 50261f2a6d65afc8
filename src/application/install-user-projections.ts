import type { UserProjection } from "../../projections/eventstoredb/user-projections.ts";
import { type RetryOptions, retry } from "../async/retry.ts";
import type { ProjectionServer, ServerProjection } from "../eventstore/projection-server.ts";

/** The change made to one projection, and its current state on the server. */
export interface InstalledProjection {
  readonly name: string;
  readonly done: "created" | "updated" | "disabled";
  readonly state: ServerProjection["state"] | "absent";
  /** The reason if it is faulted now. */
  readonly reason?: string | undefined;
  /** The reason if it was faulted before the update. */
  readonly fault?: string;
}

interface PollOptions {
  /** The maximum number of polls for a projection's state, and the interval between them. */
  readonly attempts: number;
  readonly intervalMs: number;
}

/**
 * Installs this release's projections; idempotent. Creates missing ones, updates existing ones,
 * restarts stopped or faulted ones, and disables earlier versions.
 * @throws {EventStoreUnavailable}
 */
export const installUserProjections = async (
  server: ProjectionServer,
  wanted: readonly UserProjection[],
  poll: PollOptions = { attempts: 50, intervalMs: 200 },
): Promise<InstalledProjection[]> => {
  const done: Pick<InstalledProjection, "name" | "done" | "fault">[] = [];
  for (const projection of wanted) done.push(await install(server, projection));
  for (const name of wanted.flatMap(earlierVersions)) {
    const found = await server.find(name);
    if (!found || found.state === "stopped") continue;
    await server.disable(name);
    done.push({ name, done: "disabled" });
  }
  const installed: InstalledProjection[] = [];
  for (const one of done) {
    const { state = "absent", reason } = (await awaitSettled(server, one.name, poll)) ?? {};
    installed.push({ ...one, state, reason });
  }
  return installed;
};

const install = async (
  server: ProjectionServer,
  { name, query }: UserProjection,
): Promise<Pick<InstalledProjection, "name" | "done" | "fault">> => {
  const found = await server.find(name);
  if (!found) {
    await server.create(name, query);
    return { name, done: "created" };
  }
  await server.update(name, query);
  if (found.state !== "running") await server.enable(name);
  return { name, done: "updated", ...(found.state === "faulted" && { fault: found.reason ?? "unknown" }) };
};

const earlierVersions = ({ name, family }: UserProjection): string[] => {
  const version = Number(name.slice(family.length));
  return Array.from({ length: version - 1 }, (_, index) => `${family}${index + 1}`);
};

/**
 * Polls until the projection runs, is stopped or has faulted, or until the last attempt. Returns
 * its last known state.
 */
const awaitSettled = (
  server: ProjectionServer,
  name: string,
  { attempts, intervalMs }: PollOptions,
): Promise<ServerProjection | undefined> => {
  const isSettled = (found: ServerProjection | undefined): boolean =>
    found !== undefined && found.state !== "changing";
  const delayAfter: RetryOptions<ServerProjection | undefined>["delayAfter"] = (outcome, attempt) =>
    "value" in outcome && !isSettled(outcome.value) && attempt < attempts ? intervalMs : undefined;
  return retry({ delayAfter }, () => server.find(name));
};
