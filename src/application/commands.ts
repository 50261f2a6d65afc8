import type { ProjectionRunner } from "../../projections/runner.ts";
import type { CommandHandler, Decider, DomainEvent } from "../eventstore/command-handler.ts";

/** Who commands, and under which request. */
export interface CommandContext {
  readonly requestId?: string;
  /** `admin`, `cli`, `system` or `key:<apiKey>`. */
  readonly actor: string;
}

/**
 * Puts a decision to a stream and answers with the state that it leads to, once this instance's views show it.
 * @throws whatever `decide` throws
 * @throws {Unavailable} when the event store gives no answer
 */
export type Execute = <S, E extends DomainEvent>(
  decider: Decider<S, E>,
  stream: string,
  decide: (state: S) => readonly E[],
  context: CommandContext,
) => Promise<S>;

/** How long a command waits for the views to show it. */
const visibleWithinMs = 5_000;

export const createExecute =
  ({ handler, runner }: { handler: CommandHandler; runner: Pick<ProjectionRunner, "reached"> }): Execute =>
  async (decider, stream, decide, { requestId, actor }) => {
    const metadata = { actor, ...(requestId !== undefined && { correlationId: requestId }) };
    const { state, position } = await handler.execute(decider, stream, decide, metadata);
    // The fact is in the log: views that lag are no reason to tell the caller that it failed, nor to lose a secret.
    await runner.reached(position, AbortSignal.timeout(visibleWithinMs)).catch(() => {});
    return state;
  };
