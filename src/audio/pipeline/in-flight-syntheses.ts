import { type Claim, createClaim } from "../../async/claim.ts";
import { EngineFailed, Interrupted, Invalid, Unavailable } from "../../domain/errors.ts";
import type { Take } from "../formats/sound.ts";
import type { ObjectName } from "../store/audio-store.ts";
import { type Log, wordsOf } from "./log.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";
import { createRecentFailures } from "./recent-failures.ts";
import { type Broadcast, createBroadcast } from "./shared-stream.ts";
import { type SecondLook, speakUnlessMade } from "./store-recheck.ts";

/** The sounds that are being made, each once however many want it. */
export interface Making {
  isUnderWay(name: ObjectName): boolean;
  /** The making of that sound, if it is under way: from now on it waits in the queue of this API key as well. */
  join(name: ObjectName, apiKey?: string): Broadcast | undefined;
  /**
   * Begins to make it. `progressive`: its first bytes are wanted early; `apiKey`: whose queue it waits in.
   * @throws {Unavailable} too many are under way, of all or of this key
   * @throws {EngineFailed} {Invalid} the same failed a moment ago
   */
  begin(
    take: Take,
    options: { readonly progressive: boolean; readonly apiKey?: string | undefined },
  ): Broadcast;
  /** Whether it needed no making after all: what is heard of it was found in the store. */
  wasFound(broadcast: Broadcast): boolean;
  stats(): { readonly underWay: number /** Since the start. */; readonly failures: number };
}

export interface MakingParts extends Pick<SecondLook, "speaker" | "look" | "clock"> {
  readonly limits: Pick<PipelineLimits, "underWay" | "underWayPerKey" | "readAheadBytes" | "failureMs">;
  readonly log: Log;
  /** Told before the sound is no longer in the making, so that nobody makes it a second time. */
  readonly onFinished: (name: ObjectName, sound: Buffer, how: "made" | "found") => void;
}

export const tooMuch = (): Unavailable => new Unavailable("Too much is asked for at once.", 1);

const tooMuchOfKey = (): Unavailable =>
  new Unavailable("Too much speech of this API key is being made at once.", 2);

interface UnderWay {
  readonly broadcast: Broadcast;
  readonly claim: Claim;
  /** The API key that began it. */
  readonly apiKey: string | undefined;
}

export const createMaking = (parts: MakingParts): Making => {
  const { speaker, limits, log, onFinished } = parts;
  const broadcasts = new Map<ObjectName, UnderWay>();
  const recent = createRecentFailures(parts.clock, limits.failureMs);
  const found = new WeakSet<Broadcast>();
  let failures = 0;

  const tellFailure = ({ recipe, systemVoice }: Take, error: EngineFailed): void => {
    failures++;
    log.warn({ engine: recipe.engine, systemVoice, reason: wordsOf(error) }, "A voice could not speak.");
  };

  const mayRestart = ({ recipe: { engine, voice } }: Take, error: unknown): boolean => {
    if (!(error instanceof Interrupted)) return false;
    log.warn({ engine, voice }, "A synthesis was interrupted: it is begun once more.");
    return true;
  };

  const requireRoom = (apiKey: string | undefined): void => {
    if (broadcasts.size >= limits.underWay) throw tooMuch();
    if (apiKey === undefined || broadcasts.size < limits.underWayPerKey) return;
    const ofKey = [...broadcasts.values()].filter((one) => one.apiKey === apiKey);
    if (ofKey.length >= limits.underWayPerKey) throw tooMuchOfKey();
  };

  return {
    isUnderWay: (name) => broadcasts.has(name),
    join: (name, apiKey) => {
      const joined = broadcasts.get(name);
      if (apiKey !== undefined) joined?.claim.join(apiKey);
      return joined?.broadcast;
    },
    begin: (take, { progressive, apiKey }) => {
      requireRoom(apiKey);
      const { name, recipe } = take;
      const failed = recent.of(name);
      if (failed) throw failed;
      const claim = createClaim(apiKey);
      const options = { progressive, claim };
      const onFound = () => void found.add(broadcast);
      const broadcast: Broadcast = createBroadcast({
        source: (signal) => speakUnlessMade({ ...parts, onFound }, take, options, signal),
        finish: (bytes, declared) => {
          const sound = speaker.finish(recipe.format, bytes, declared);
          onFinished(name, sound, found.has(broadcast) ? "found" : "made");
          return sound;
        },
        mayRestart: (error) => mayRestart(take, error),
        readAheadBytes: limits.readAheadBytes,
        onOver: (failure) => {
          broadcasts.delete(name);
          if (failure instanceof EngineFailed) tellFailure(take, failure);
          if (isRemembered(take, failure)) recent.add(name, failure);
        },
      });
      broadcasts.set(name, { broadcast, claim, apiKey });
      return broadcast;
    },
    wasFound: (broadcast) => found.has(broadcast),
    stats: () => ({ underWay: broadcasts.size, failures }),
  };
};

/** A paid provider has its own circuit breaker, and new credentials must work at once. */
const isRemembered = ({ recipe }: Take, failure: unknown): failure is EngineFailed | Invalid =>
  recipe.websiteId === undefined && (failure instanceof EngineFailed || failure instanceof Invalid);
