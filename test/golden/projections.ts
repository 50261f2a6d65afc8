import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Projection } from "../../projections/projection.ts";
import { malformedEvents } from "../../src/bootstrap/event-log/views.ts";

const folder = join(import.meta.dirname, "../../projections");

/**
 * Every projection that a file of projections/ exports, so that a new one is recorded without a
 * change here; by name.
 */
export const allProjections = async (): Promise<Projection<unknown>[]> => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  const modules: object[] = await Promise.all(
    files.map((file) => import(pathToFileURL(join(folder, file)).href)),
  );
  const exported = modules.flatMap((module) => Object.values(module)).filter(isProjection);
  return [...exported, malformedEvents as Projection<unknown>].sort((a, b) => (a.name < b.name ? -1 : 1));
};

const isProjection = (value: unknown): value is Projection<unknown> =>
  typeof value === "object" &&
  value !== null &&
  "prefixes" in value &&
  "apply" in value &&
  "version" in value;
