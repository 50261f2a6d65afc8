import type { ProjectionRunner } from "../../projections/runner/runner.ts";

const withinMs = 5_000;

/**
 * Resolves when this instance's views show the position, or five seconds later. Never rejects: the fact is in the log,
 * and views that lag are no reason to tell the caller that it failed, nor to lose a secret.
 */
export const untilVisible = (
  views: Pick<ProjectionRunner, "waitForPosition">,
  position: number,
): Promise<void> => views.waitForPosition(position, AbortSignal.timeout(withinMs)).catch(() => {});
