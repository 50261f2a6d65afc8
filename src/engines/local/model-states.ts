import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Time } from "../../async/time.ts";
import { EngineFailed, errorMessage } from "../../domain/errors.ts";
import { type ProcessEnd, processEndOf } from "../../domain/process-end.ts";
import { ToolFailed } from "../../subprocess/tools.ts";

export type ModelStates = ReturnType<typeof createModelStates>;

/** Consecutive failures after which a model is not started. */
const threshold = 3;

/** Remembers which models work. A model that fails again and again is not started for a while. */
export const createModelStates = ({
  warn,
  time,
}: {
  readonly warn: (sentence: string, end: ProcessEnd) => void;
  readonly time?: Time | undefined;
}) => {
  const last = new Map<string, string>();
  const breakers = new Map<string, ReturnType<typeof breakerOf>>();
  const breakerOf = (model: string) =>
    createCircuitBreaker<string>({
      openError: (failure) => new EngineFailed(`The model ${model} is not used for a while: ${failure}`),
      threshold,
      ...(time && { time }),
    });
  const breakerFor = (model: string) => {
    const breaker = breakers.get(model) ?? breakerOf(model);
    breakers.set(model, breaker);
    return breaker;
  };

  return {
    /**
     * Returns one use, of which only the first report counts.
     * @throws {EngineFailed} if the model is not started now
     */
    start: (model: string) => {
      const call = breakerFor(model).start();
      return {
        succeeded: () => {
          last.delete(model);
          call.succeeded();
        },
        failed: (error: unknown) => {
          if (!isOfModel(error)) return call.ignored();
          const message = errorMessage(error);
          if (last.get(model) !== message) warn(`The model ${model} failed: ${message}`, processEndOf(error));
          last.set(model, message);
          call.failed(message);
        },
        /** Says nothing about the model: its caller disconnected. */
        ignored: call.ignored,
      };
    },
    /**
     * Lists the models whose last use failed, or whose pack cannot be used, each with the reason.
     */
    failures: (): readonly string[] => [...last].map(([model, message]) => `${model}: ${message}`),
  };
};

/**
 * A failure because of a disconnected caller, a full queue or a helper process that ended says
 * nothing about a model.
 */
const isOfModel = (error: unknown): boolean =>
  error instanceof ToolFailed && error.reason !== "abandoned" && error.reason !== "helper";
