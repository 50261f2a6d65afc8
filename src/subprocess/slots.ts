import type { Resource, ResourceOptions } from "../async/scheduler/resource.ts";
import { createScheduler, type Scheduler } from "../async/scheduler/scheduler.ts";
import { queues } from "../limits/queues.ts";
import type { SpeechModel } from "./models.ts";

export interface SlotsOptions {
  /** Shares the slots among API keys. Default: a scheduler of its own. */
  readonly scheduler?: Scheduler;
  /** Replaces limits of the queues in `limits/queues.ts`. */
  readonly queue?: Partial<Pick<ResourceOptions, "queueLimit" | "queueLimitPerKey" | "queueTimeoutMs">>;
}

/** The parts of a model on which its queue depends. */
export type ModelQueue = Pick<SpeechModel, "name" | "processes">;

/** The slots of the helper's jobs, by kind. */
export class Slots {
  readonly tools: Resource;
  readonly shortEncoders: Resource;
  readonly encoders: Resource;
  readonly decoders: Resource;
  readonly #models = new Map<string, Resource>();
  readonly #openModel: (model: ModelQueue) => Resource;

  constructor(concurrency: number, { scheduler = createScheduler(), queue }: SlotsOptions) {
    const open = (name: "speech_tools" | "short_encoders" | "encoders" | "decoders"): Resource =>
      scheduler.resource(name, { ...queues[name](concurrency), ...queue });
    this.tools = open("speech_tools");
    this.shortEncoders = open("short_encoders");
    this.encoders = open("encoders");
    this.decoders = open("decoders");
    this.#openModel = ({ name, processes = 1 }) =>
      scheduler.resource(`model_${name}`, { ...queues.model(processes), ...queue });
  }

  model(model: ModelQueue): Resource {
    const queue = this.#models.get(model.name) ?? this.#openModel(model);
    this.#models.set(model.name, queue);
    return queue;
  }

  /** The numbers of jobs that run, and that wait for a slot. */
  stats(): { readonly running: number; readonly queued: number } {
    const all = [this.tools, this.shortEncoders, this.encoders, this.decoders, ...this.#models.values()];
    return {
      running: all.reduce((sum, one) => sum + one.running(), 0),
      queued: all.reduce((sum, one) => sum + one.queued(), 0),
    };
  }
}
