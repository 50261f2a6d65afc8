import { setTimeout as delay } from "node:timers/promises";
import type { UserProjection } from "../../projections/eventstoredb/user-projections.ts";
import type { ProjectionServer, ServerProjection } from "../eventstore/projection-server.ts";

/** What was done with one projection, and how the server has it now. */
export interface InstalledProjection {
  readonly name: string;
  readonly done: "created" | "updated" | "disabled";
  readonly state: ServerProjection["state"] | "absent";
  readonly reason?: string | undefined;
}

export interface Patience {
  /** How often to look whether they run, and how long to wait between, in milliseconds. */
  readonly looks: number;
  readonly everyMs: number;
}

/**
 * Brings the server's projections to what this release has, as often as it is asked: makes what is missing, renews what is
 * there, and disables those that another version of the same view has taken the place of.
 * @throws {EventStoreUnavailable}
 */
export const installProjections = async (
  server: ProjectionServer,
  wanted: readonly UserProjection[],
  patience: Patience = { looks: 50, everyMs: 200 },
): Promise<InstalledProjection[]> => {
  const before = await server.list();
  const done: Pick<InstalledProjection, "name" | "done">[] = [];
  for (const { name, query } of wanted) {
    const found = before.find((one) => one.name === name);
    done.push({ name, done: found ? "updated" : "created" });
    if (!found) await server.create(name, query);
    else {
      await server.update(name, query);
      if (found.state !== "running") await server.enable(name);
    }
  }
  for (const { name } of before.filter((one) => one.state !== "stopped" && isSuperseded(one.name, wanted))) {
    await server.disable(name);
    done.push({ name, done: "disabled" });
  }
  const after = await settled(
    server,
    wanted.map(({ name }) => name),
    patience,
  );
  return done.map((one) => {
    const { state = "absent", reason } = after.find(({ name }) => name === one.name) ?? {};
    return { ...one, state, reason };
  });
};

const isSuperseded = (name: string, wanted: readonly UserProjection[]): boolean =>
  wanted.some((one) => one.name !== name && new RegExp(`^${one.family}\\d+$`).test(name));

/** What the server has once all of them run or have failed, or patience is at its end. */
const settled = async (
  server: ProjectionServer,
  names: readonly string[],
  { looks, everyMs }: Patience,
): Promise<readonly ServerProjection[]> => {
  for (let look = 1; ; look++) {
    const all = await server.list();
    const settledOnes = all.filter(({ state }) => state === "running" || state === "faulted");
    if (look >= looks || names.every((name) => settledOnes.some((one) => one.name === name))) return all;
    await delay(everyMs);
  }
};
