import { type Claim, createClaim } from "../../async/claim.ts";
import { EngineFailed, Interrupted, Invalid, Unavailable } from "../../domain/errors.ts";
import type { Rendition } from "../formats/sound.ts";
import type { ObjectName } from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import { createRecentFailures } from "./recent-failures.ts";
import { createSharedStream, type SharedStream } from "./shared-stream.ts";
import { renderUnlessStored, type StoreRecheck } from "./store-recheck.ts";

/** At most one synthesis runs per object; concurrent callers share it. */
export interface InFlightSyntheses {
  has(name: ObjectName): boolean;
  /** The running synthesis of that object, if any. It now waits in the queue of this API key as well. */
  join(name: ObjectName, apiKey?: string): SharedStream | undefined;
  /**
   * Starts a synthesis. `progressive`: the first bytes are needed early. `apiKey`: whose queue it waits in. @throws
   * {Unavailable} too many are running, in total or for this key @throws {EngineFailed} {Invalid} the same synthesis
   * failed a moment ago
   */
  begin(
    rendition: Rendition,
    options: { readonly progressive: boolean; readonly apiKey?: string | undefined },
  ): SharedStream;
  /** True if the sound was found in the store while the synthesis waited for its slot. */
  cameFromStore(stream: SharedStream): boolean;
  stats(): { readonly underWay: number /** Since the start. */; readonly failures: number };
}

export interface InFlightSynthesesOptions extends Pick<StoreRecheck, "renderer" | "recheck" | "clock"> {
  readonly limits: Pick<PipelineLimits, "inFlight" | "inFlightPerKey" | "readAheadBytes" | "failureMs">;
  readonly log: Log;
  /** Called before the synthesis is removed, so that no second one starts. */
  readonly onFinished: (name: ObjectName, sound: Buffer, how: "made" | "found") => void;
}

export const tooMuch = (): Unavailable => new Unavailable("Too many requests are in progress.", 1);

const tooMuchOfKey = (): Unavailable => new Unavailable("Too many syntheses of this API key are running.", 2);

interface InFlightSynthesis {
  readonly stream: SharedStream;
  readonly claim: Claim;
  /** The API key that started it. */
  readonly apiKey: string | undefined;
}

export const createInFlightSyntheses = (parts: InFlightSynthesesOptions): InFlightSyntheses => {
  const { renderer, limits, log, onFinished } = parts;
  const inFlight = new Map<ObjectName, InFlightSynthesis>();
  const recent = createRecentFailures(parts.clock, limits.failureMs);
  const found = new WeakSet<SharedStream>();
  let failures = 0;

  const reportFailure = ({ recipe, systemVoice }: Rendition, error: EngineFailed): void => {
    failures++;
    log.warn({ engine: recipe.engine, systemVoice, reason: loggableMessage(error) }, "A synthesis failed.");
  };

  const requireRoom = (apiKey: string | undefined): void => {
    if (inFlight.size >= limits.inFlight) throw tooMuch();
    if (apiKey === undefined || inFlight.size < limits.inFlightPerKey) return;
    const ofKey = [...inFlight.values()].filter((one) => one.apiKey === apiKey);
    if (ofKey.length >= limits.inFlightPerKey) throw tooMuchOfKey();
  };

  return {
    has: (name) => inFlight.has(name),
    join: (name, apiKey) => {
      const joined = inFlight.get(name);
      if (apiKey !== undefined) joined?.claim.join(apiKey);
      return joined?.stream;
    },
    begin: (rendition, { progressive, apiKey }) => {
      requireRoom(apiKey);
      const { name, recipe } = rendition;
      const failed = recent.of(name);
      if (failed) throw failed;
      const claim = createClaim(apiKey);
      const options = { progressive, claim };
      const onFound = () => void found.add(stream);
      const stream: SharedStream = createSharedStream({
        source: (signal) => renderUnlessStored({ ...parts, onFound }, rendition, options, signal),
        finish: (bytes, declared) => {
          const sound = renderer.finish(recipe.format, bytes, declared);
          onFinished(name, sound, found.has(stream) ? "found" : "made");
          return sound;
        },
        mayRestart: (error) => mayRestart(log, rendition, error),
        readAheadBytes: limits.readAheadBytes,
        onOver: (failure) => {
          inFlight.delete(name);
          if (failure instanceof EngineFailed) reportFailure(rendition, failure);
          if (isRemembered(rendition, failure)) recent.add(name, failure);
        },
      });
      inFlight.set(name, { stream, claim, apiKey });
      return stream;
    },
    cameFromStore: (stream) => found.has(stream),
    stats: () => ({ underWay: inFlight.size, failures }),
  };
};

/** A BYOK provider has its own circuit breaker, and new credentials must work at once. */
const isRemembered = ({ recipe }: Rendition, failure: unknown): failure is EngineFailed | Invalid =>
  recipe.websiteId === undefined && (failure instanceof EngineFailed || failure instanceof Invalid);

const mayRestart = (log: Log, { recipe: { engine, voice } }: Rendition, error: unknown): boolean => {
  if (!(error instanceof Interrupted)) return false;
  log.warn({ engine, voice }, "A synthesis was interrupted and is restarted.");
  return true;
};
