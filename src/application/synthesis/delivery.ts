import type { Audio, KnownAudio, Rendition } from "../../audio/pipeline/pipeline.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Receipt, StreamKind } from "../../domain/ledger/journal/serving.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import type { RecordCallback } from "../../ledger/ledger.ts";
import type { ActingKey } from "../access/principal.ts";
import {
  AdmittedRequest,
  type DeliveryContext,
  type DeliveryOptions,
  type RequestContext,
} from "./admitted-request.ts";
import { beginStream, type SynthesisStream } from "./begin-stream.ts";
import { partOf, type Selection, servedAudio, voidIfFree } from "./charges.ts";
import type { IdempotencyDigests } from "./idempotency-digests.ts";
import type { Planner, SynthesisPlan } from "./planner.ts";

export type {
  Audio,
  DeliveryContext,
  DeliveryOptions,
  KnownAudio,
  Rendition,
  RequestContext,
  Selection,
  StreamKind,
  SynthesisStream,
};

export interface StreamContext extends RequestContext {
  readonly kind: StreamKind;
}

interface RequestedPart<S extends Selection> {
  /** True if the client requests a range. */
  readonly hasRange: boolean;
  /**
   * Selects the part that is sent. A refusal is charged if an engine has worked for the request.
   * `onBegin` must be called when an engine begins to work for the selection itself.
   */
  readonly select: (audio: Audio, onBegin: () => void) => S | Promise<S>;
}

interface Delivered<S extends Selection> {
  readonly audio: Audio;
  readonly selection: S;
  /** The characters that the key is charged; 0 for a repeat. */
  readonly characters: number;
}

/** Delivers audio that is complete. */
export interface CompleteDelivery {
  /** The audio, if it is in memory. */
  fromMemory(plan: SynthesisPlan): Audio | undefined;
  /**
   * Finds the audio in memory or store if the key was charged for it within ten minutes. Otherwise
   * it does not look for it, so that neither the response nor its timing tells the key what other
   * keys have requested.
   */
  findCharged(plan: SynthesisPlan, apiKey: string, signal: AbortSignal): Promise<KnownAudio | undefined>;
  /**
   * Decides on the request, synthesizes the audio if necessary, selects what is sent, and records
   * the serving. The audio may be sent when this resolves.
   * @throws {KeyIsSuspended}
   * @throws {EngineFailed}
   * @throws {Unavailable}
   * @throws the errors of `select`
   * @throws the signal's reason when the caller has disconnected
   */
  deliver<S extends Selection>(
    plan: SynthesisPlan,
    context: DeliveryContext,
    part: RequestedPart<S>,
  ): Promise<Delivered<S>>;
  readonly recordFromMemory: RecordFromMemory;
  /**
   * The caller of `recordFromMemory` must call it, instead of sending the audio, if its client has
   * disconnected.
   */
  callerDisconnected(receipt: Receipt): void;
}

/**
 * Records the serving of audio from memory. Calls `done` once, later: without an error the audio
 * may be sent. Its caller must then check whether the client is still connected.
 * @throws {RateLimited} before any work
 */
type RecordFromMemory = (
  plan: SynthesisPlan,
  principal: ActingKey,
  requestId: string,
  audio: Audio,
  done: RecordCallback,
) => void;

/** Plans requests and delivers complete audio. */
export interface Synthesis extends Planner, IdempotencyDigests, CompleteDelivery {}

/** Audio that is sent while it is synthesized. */
export interface Streaming {
  /**
   * `/v2` streams only BYOK engines.
   * @throws {NotFound} for any other engine
   */
  requireProvider(plan: SynthesisPlan): void;
  /**
   * Resolves when the first bytes may be sent. An aborted `signal` ends the stream, and the
   * synthesis if it was the last listener. Muted plans are not accepted.
   * @throws {KeyIsSuspended}
   * @throws {EngineFailed}
   * @throws {Unavailable}
   */
  begin(plan: SynthesisPlan, context: StreamContext, signal: AbortSignal): Promise<SynthesisStream>;
}

/**
 * Delivers audio. Every delivery, complete or streamed, takes the same steps: decide on the request
 * (Idempotency-Key, quota), obtain the audio, record the serving, and only then hand the audio
 * over. Once an engine has worked for a request it is charged, unless the service or the provider
 * failed.
 */
export const createDelivery = (options: DeliveryOptions): CompleteDelivery & Streaming => {
  const { pipeline, ledger } = options;

  /**
   * Finds the audio of a requested part that is already paid for. No engine works for it, and it
   * needs no characters.
   */
  const findPaid = async (plan: SynthesisPlan, context: DeliveryContext): Promise<Audio | undefined> => {
    const { apiKey } = context.principal;
    const [first] = plan.renditions;
    const isPaid = await ledger.wasChargedByAny(apiKey, [first.hash]);
    return isPaid ? await pipeline.fromCache(first, context.signal) : undefined;
  };

  return {
    fromMemory: ({ renditions: [first] }) => pipeline.fromMemory(first),
    findCharged: async ({ renditions: [first] }, apiKey, signal) =>
      ledger.wasCharged(apiKey, first.hash) ? await pipeline.statRendition(first, signal) : undefined,
    deliver: async (plan, context, { hasRange, select }) => {
      const { signal } = context;
      const paid = hasRange ? await findPaid(plan, context) : undefined;
      const request = await AdmittedRequest.admit(options, plan, context, paid ? 0 : plan.characters);
      return await request.run(async () => {
        const audio = await request.obtain(hasRange, paid);
        const selection = await select(audio, request.onSelectionBegin);
        signal.throwIfAborted();
        const receipt = await request.record(audio, partOf(audio, selection));
        if (signal.aborted) request.callerDisconnected(receipt);
        signal.throwIfAborted();
        return { audio, selection, characters: receipt.serving.characters };
      });
    },
    recordFromMemory: (plan, principal, requestId, audio, done) => {
      ledger.record(principal, servedAudio(plan, requestId, audio), done);
    },
    callerDisconnected: (receipt) => void voidIfFree(options, receipt),
    requireProvider,
    begin: async (plan, context, signal) => {
      const request = await AdmittedRequest.admit(options, plan, { ...context, signal }, plan.characters);
      return await request.run(() => beginStream(ledger, request, context.kind, signal));
    },
  };
};

/**
 * The first voice decides. A fallback may be of any engine.
 * @throws {NotFound}
 */
const requireProvider = ({ renditions: [{ recipe }] }: SynthesisPlan): void => {
  if (isByok(recipe.engine)) return;
  throw new NotFound(`There is no streaming provider for the engine ${recipe.engine}.`);
};
