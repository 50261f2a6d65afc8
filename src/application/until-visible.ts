import type { ProjectionRunner } from "../../projections/runner/runner.ts";

const withinMs = 5_000;

/**
 * Resolves when this instance's views show the position, or after five seconds. Never rejects: the
 * event is stored, and lagging views must not report a failure or lose a new secret.
 */
export const untilVisible = (
  views: Pick<ProjectionRunner, "waitForPosition">,
  position: number,
): Promise<void> => views.waitForPosition(position, AbortSignal.timeout(withinMs)).catch(() => {});
