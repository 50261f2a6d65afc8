import { LRUCache } from "lru-cache";
import type { Resource } from "../../async/scheduler/resource.ts";
import type { Scheduler } from "../../async/scheduler/scheduler.ts";
import { createWaiter, type Waiter } from "../../async/scheduler/waiter.ts";
import type { Time } from "../../async/time.ts";
import { EngineFailed, Interrupted, Invalid, Unavailable } from "../../domain/errors.ts";
import { processEndOf } from "../../domain/process-end.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import type { SpokenPhoneme } from "../../domain/synthesis/phonemes.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { queues } from "../../limits/queues.ts";
import type { AudioContent, AudioName } from "../store/audio-store.ts";
import type { Rendition } from "./audio.ts";
import { type Log, loggableMessage } from "./log.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import type { RenderedAudio } from "./renderer.ts";
import { SharedSource, type SharedStream } from "./shared-stream.ts";
import { renderUnlessStored, type StoreRecheck } from "./store-recheck.ts";

export interface InFlightSynthesesOptions extends Pick<StoreRecheck, "renderer" | "recheck" | "time"> {
  readonly limits: Pick<PipelineLimits, "inFlight" | "inFlightPerKey" | "readAheadBytes" | "failureMs">;
  readonly log: Log;
  readonly scheduler: Scheduler;
  /** Called before the synthesis is removed from those in flight, so that no second one starts. */
  readonly onFinished: (
    rendition: Rendition,
    audio: AudioContent,
    how: "made" | "found",
    rendered: RenderedAudio,
  ) => void;
}

/** The job of an engine for one synthesis. */
export interface EngineJob {
  readonly rendition: Rendition;
  /** True once an engine has begun; false while the synthesis waits in a queue. */
  readonly hasBegun: boolean;
}

interface InFlightSynthesis {
  readonly stream: SharedStream;
  readonly waiter: Waiter;
  readonly job: EngineJob;
}

/** What the caller of a synthesis needs. */
export interface Wanted {
  /** True if the first bytes are needed early. */
  readonly progressive: boolean;
  /** The API key in whose queue it waits. */
  readonly apiKey?: string | undefined;
  readonly onEngineJob?: OnEngineJob | undefined;
}

/**
 * Called with the job of each synthesis that a request starts (`miss`) or joins (`coalesced`), one
 * after the other.
 */
export type OnEngineJob = (job: EngineJob, source: "miss" | "coalesced") => void;

/** At most one synthesis runs per object; concurrent callers share it. */
export class InFlightSyntheses {
  readonly #options: InFlightSynthesesOptions;
  readonly #slots: Resource;
  readonly #inFlight = new Map<AudioName, InFlightSynthesis>();
  readonly #recent: ReturnType<typeof createRecentFailures>;
  readonly #found = new WeakSet<SharedStream>();
  #failures = 0;

  constructor(options: InFlightSynthesesOptions) {
    const { limits, time, scheduler } = options;
    this.#options = options;
    this.#recent = createRecentFailures(time, limits.failureMs);
    this.#slots = scheduler.resource("syntheses", {
      ...queues.syntheses,
      concurrency: limits.inFlight,
      concurrencyPerKey: limits.inFlightPerKey,
    });
  }

  has(name: AudioName): boolean {
    return this.#inFlight.has(name);
  }

  /**
   * Returns the running synthesis of that object, if there is one. While it waits for a slot, it
   * now waits in the queue of this API key as well.
   */
  join(
    name: AudioName,
    { apiKey, onEngineJob }: Pick<Wanted, "apiKey" | "onEngineJob"> = {},
  ): SharedStream | undefined {
    const joined = this.#inFlight.get(name);
    if (!joined) return undefined;
    if (apiKey !== undefined) joined.waiter.join(apiKey);
    onEngineJob?.(joined.job, "coalesced");
    return joined.stream;
  }

  /**
   * Starts a synthesis.
   * @throws {Unavailable} too many are running
   * @throws {KeyOverloaded} too many are running for this key
   * @throws {EngineFailed} {Invalid} the same synthesis failed a moment ago
   */
  begin(rendition: Rendition, { progressive, apiKey, onEngineJob }: Wanted): SharedStream {
    const { renderer, limits, log, onFinished } = this.#options;
    const { name, recipe } = rendition;
    const failed = this.#recent.of(name);
    if (failed) throw failed;
    const waiter = waiterOf(rendition, apiKey);
    const release = this.#slots.acquireNow(waiter);
    const options = { progressive, waiter };
    const onFound = () => void this.#found.add(stream);
    const job = { rendition, hasBegun: false };
    const onBegin = (): void => {
      job.hasBegun = true;
    };
    const stream: SharedStream = new SharedSource({
      source: (signal) =>
        renderUnlessStored({ ...this.#options, onFound, onBegin }, rendition, options, signal),
      finish: (bytes, rendered) => {
        const audio = renderer.finish(recipe.format, bytes, rendered);
        onFinished(rendition, audio, this.cameFromStore(stream) ? "found" : "made", rendered);
        return audio;
      },
      mayRestart: (error) => mayRestart(log, rendition, error),
      readAheadBytes: limits.readAheadBytes,
      onOver: (failure) => {
        this.#inFlight.delete(name);
        release();
        if (failure instanceof EngineFailed || failure instanceof Unavailable)
          this.#reportFailure(rendition, failure);
        if (isRemembered(rendition, failure)) this.#recent.add(name, failure);
      },
    });
    this.#inFlight.set(name, { stream, waiter, job });
    onEngineJob?.(job, "miss");
    return stream;
  }

  /**
   * Implements `Pipeline.phonemes`.
   * @throws as `begin`
   */
  async phonemes(
    rendition: Rendition,
    { apiKey, onBegin }: { readonly apiKey: string; readonly onBegin: () => void },
    signal: AbortSignal,
  ): Promise<readonly SpokenPhoneme[]> {
    const waiter = waiterOf(rendition, apiKey);
    const release = this.#slots.acquireNow(waiter);
    try {
      const beforeStart = async (): Promise<void> => onBegin();
      return await this.#options.renderer.phonemes(rendition, { waiter, beforeStart }, signal);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      throw new Unavailable("The synthesis was interrupted.", 1, { cause: error });
    } finally {
      release();
    }
  }

  /** True if the audio was found in the store while the synthesis waited for its slot. */
  cameFromStore(stream: SharedStream): boolean {
    return this.#found.has(stream);
  }

  stats(): { readonly inFlight: number /** Since the start. */; readonly failures: number } {
    return { inFlight: this.#inFlight.size, failures: this.#failures };
  }

  /** A synthesis that is unavailable has failed if a tool has, such as its encoder. */
  #reportFailure({ recipe, systemVoice }: Rendition, error: EngineFailed | Unavailable): void {
    const end = processEndOf(error);
    if (error instanceof EngineFailed) this.#failures++;
    else if (Object.keys(end).length === 0) return;
    const facts = { engine: recipe.engine, systemVoice, reason: loggableMessage(error), ...end };
    this.#options.log.warn(facts, "A synthesis failed.");
  }
}

const waiterOf = ({ recipe, document = recipe.text }: Rendition, apiKey: string | undefined): Waiter =>
  createWaiter(apiKey, speakingSeconds(document) / recipe.prosody.rate);

/**
 * Failures of a website's own provider are not remembered: the provider has its own circuit
 * breaker, and new credentials must work at once.
 */
const isRemembered = ({ recipe }: Rendition, failure: unknown): failure is EngineFailed | Invalid =>
  !isByok(recipe.engine) && (failure instanceof EngineFailed || failure instanceof Invalid);

const mayRestart = (log: Log, { recipe: { engine, voice } }: Rendition, error: unknown): boolean => {
  if (!(error instanceof Interrupted)) return false;
  log.warn({ engine, voice, ...processEndOf(error) }, "A synthesis was interrupted and is restarted.");
  return true;
};

const maxRemembered = 1000;

/** Remembers recent failures, so that not every request repeats a failing synthesis. */
const createRecentFailures = (time: Time, rememberMs: number) => {
  const failures = new LRUCache<AudioName, { failure: EngineFailed | Invalid; expiresAt: number }>({
    max: maxRemembered,
  });

  return {
    add: (name: AudioName, failure: EngineFailed | Invalid): void =>
      void failures.set(name, { failure, expiresAt: time.now() + rememberMs }),
    /** Returns the failure if it is recent, with the seconds until the next attempt. */
    of: (name: AudioName): EngineFailed | Invalid | undefined => {
      const found = failures.get(name);
      if (!found) return undefined;
      const { failure, expiresAt } = found;
      const remainingMs = expiresAt - time.now();
      if (remainingMs <= 0) {
        failures.delete(name);
        return undefined;
      }
      if (failure instanceof Invalid) return failure;
      const { message, permanent, loggable } = failure;
      const retryAfterSeconds = Math.max(failure.retryAfterSeconds ?? 0, Math.ceil(remainingMs / 1000));
      return new EngineFailed(message, { cause: failure, permanent, retryAfterSeconds, loggable });
    },
  };
};
