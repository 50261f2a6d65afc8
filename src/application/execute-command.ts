import type { ProjectionRunner } from "../../projections/runner/runner.ts";
import type { CommandHandler, Decider, DomainEvent } from "../eventstore/command-handler.ts";

export interface CommandContext {
  readonly requestId?: string;
  /** `admin`, `admin:<name>`, `auditor:<name>`, `cli`, `system` or `key:<apiKey>`. */
  readonly actor: string;
  /**
   * Set if the command's events have the log's last time, because this machine's clock is wrong.
   */
  readonly clock?: "log";
}

/**
 * Applies a decision to a stream. Resolves with the new state once this instance's views show it.
 * @throws the errors of `decide`
 * @throws {Unavailable} when the event store does not respond
 */
export type ExecuteCommand = <S, E extends DomainEvent>(
  decider: Decider<S, E>,
  stream: string,
  decide: (state: S) => readonly E[],
  context: CommandContext,
) => Promise<S>;

export const createExecuteCommand =
  ({
    handler,
    runner,
  }: {
    handler: CommandHandler;
    runner: Pick<ProjectionRunner, "waitForPosition">;
  }): ExecuteCommand =>
  async (decider, stream, decide, { requestId, actor, clock }) => {
    const metadata = {
      actor,
      ...(requestId !== undefined && { correlationId: requestId }),
      ...(clock && { clock }),
    };
    const { state, position } = await handler.execute(decider, stream, decide, metadata);
    await untilVisible(runner, position);
    return state;
  };

const withinMs = 5_000;

/**
 * Resolves when this instance's views show the position, or after five seconds. Never rejects: the
 * event is stored, and lagging views must not report a failure or lose a new secret.
 */
export const untilVisible = (
  views: Pick<ProjectionRunner, "waitForPosition">,
  position: number,
): Promise<void> => views.waitForPosition(position, AbortSignal.timeout(withinMs)).catch(() => {});
