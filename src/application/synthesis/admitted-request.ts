import { untilAborted } from "../../async/deadline.ts";
import type {
  Audio,
  EngineJob,
  OnEngineJob,
  Pipeline,
  StreamedAudio,
} from "../../audio/pipeline/pipeline.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { AudioSource, Idempotency, Receipt } from "../../domain/ledger/journal/serving.ts";
import type { Admission, Ledger, NewServing } from "../../ledger/ledger.ts";
import type { AskingLimit } from "../../limits/limit.ts";
import type { ActingKey } from "../access/principal.ts";
import {
  departsFree,
  isCallersFault,
  isServiceFailure,
  isSilence,
  keepsNoAudio,
  partOf,
  servedAudio,
  voidIfFree,
  wasMade,
} from "./charges.ts";
import type { SynthesisPlan } from "./planner.ts";

/** The caller and the request that a delivery is for. */
export interface RequestContext {
  readonly principal: ActingKey;
  readonly requestId: string;
  /** The Idempotency-Key: a repeat of the same request is charged once. */
  readonly idempotency?: Idempotency | undefined;
  /**
   * Calls back when the client has read the whole response or has disconnected. It may be absent if
   * audio leaves the memory as soon as it has been read.
   */
  readonly onSent?: (callback: () => void) => void;
}

export interface DeliveryContext extends RequestContext {
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

export interface DeliveryOptions {
  readonly pipeline: Pick<
    Pipeline,
    "fromMemory" | "fromCache" | "statRendition" | "obtain" | "asKept" | "stream"
  >;
  readonly ledger: Ledger;
  /** Limits the requests that are not charged although an engine has worked. */
  readonly departures: AskingLimit;
}

type AdmittedContext = RequestContext & Pick<DeliveryContext, "signal">;

/** An admitted request, until it is recorded or has failed. Engines may work for it. */
export class AdmittedRequest {
  readonly #options: DeliveryOptions;
  readonly #plan: SynthesisPlan;
  readonly #context: AdmittedContext;
  readonly #admission: Admission;
  /**
   * Ends the synthesis, or this request's part in it. It is not the caller's signal, which a
   * request with an Idempotency-Key may outlast.
   */
  readonly #synthesis = new AbortController();
  #job: { readonly engine: EngineJob; readonly source: AudioSource } | undefined;
  #audio: Audio | undefined;
  #obtaining: Promise<Audio | StreamedAudio> | undefined;
  /** True once an engine has begun to work for the selection of the audio that is sent. */
  #isSelectionWork = false;
  /** True once the serving is being recorded. */
  #isServed = false;

  private constructor(
    options: DeliveryOptions,
    plan: SynthesisPlan,
    context: AdmittedContext,
    admission: Admission,
  ) {
    this.#options = options;
    this.#plan = plan;
    this.#context = context;
    this.#admission = admission;
  }

  /**
   * Decides on the request before any work. `characters`: the most that it may be charged.
   * @throws the error that refuses the request
   */
  static async admit(
    options: DeliveryOptions,
    plan: SynthesisPlan,
    context: AdmittedContext,
    characters: number,
  ): Promise<AdmittedRequest> {
    const { principal, requestId, idempotency, signal } = context;
    const admission = await options.ledger.admit(principal, { requestId, characters, idempotency }, signal);
    return new AdmittedRequest(options, plan, context, admission);
  }

  /** Settles the request if `task` fails before it records the serving. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    try {
      this.#context.signal.throwIfAborted();
      return await task();
    } catch (error) {
      if (!this.#isServed) await this.#settle(error);
      throw error;
    }
  }

  /**
   * Resolves with the complete audio. With `asKept`, it has the bytes that the store keeps: clients
   * join parts that have the same ETag, even if another instance has sent some of them.
   */
  async obtain(asKept: boolean, paid: Audio | undefined): Promise<Audio> {
    const { pipeline } = this.#options;
    const { principal, signal } = this.#context;
    const obtaining = (): Promise<Audio> =>
      pipeline.obtain(this.#plan.renditions, this.#synthesis.signal, principal.apiKey, this.#onEngineJob);
    const audio = paid ?? (await this.#untilObtained(obtaining(), signal));
    this.#audio = audio;
    if (asKept) this.#audio = await pipeline.asKept(audio, signal);
    return this.#audio;
  }

  /** Resolves with the audio as soon as its first bytes exist. */
  async stream(): Promise<StreamedAudio> {
    const { principal, signal } = this.#context;
    const { pipeline } = this.#options;
    const { signal: synthesis } = this.#synthesis;
    const streamed = pipeline.stream(this.#plan.renditions, synthesis, principal.apiKey, this.#onEngineJob);
    return await this.#untilObtained(streamed, signal);
  }

  #untilObtained<S extends Audio | StreamedAudio>(obtaining: Promise<S>, signal: AbortSignal): Promise<S> {
    this.#obtaining = obtaining;
    return untilAborted(obtaining, signal);
  }

  readonly #onEngineJob: OnEngineJob = (engine, source) => {
    this.#job = { engine, source };
  };

  readonly onSelectionBegin = (): void => {
    this.#isSelectionWork = true;
  };

  async record(audio: Audio | StreamedAudio, delivered: Delivery): Promise<Receipt> {
    const { idempotency } = this.#context;
    const served = servedAudio(this.#plan, this.#context.requestId, audio);
    const serving = { ...served, ...delivered, ...(idempotency && { idempotency }) };
    this.#isServed = true;
    try {
      return await this.#record(serving, this.#admission);
    } catch (error) {
      this.endSynthesis(error);
      throw error;
    }
  }

  #record(serving: NewServing, admission: Admission): Promise<Receipt> {
    const { principal } = this.#context;
    return new Promise((resolve, reject) =>
      this.#options.ledger.record(
        principal,
        serving,
        (error, receipt) => (receipt ? resolve(receipt) : reject(error)),
        admission,
      ),
    );
  }

  /** The caller has disconnected before it received any audio of a recorded serving. */
  callerDisconnected(receipt: Receipt): void {
    if (isServiceFailure(this.#context.signal.reason)) void this.#options.ledger.voidServing(receipt);
    else void voidIfFree(this.#options, receipt);
  }

  /**
   * The reader of a stream has disconnected. The audio of a charged Idempotency-Key is completed,
   * because its repeats must need no engine.
   */
  readerDisconnected(audio: AsyncIterator<Buffer>): void {
    if (this.#context.idempotency) void readToEnd(audio).catch(this.chargeRepeat);
    else this.endSynthesis();
  }

  /**
   * Charges a repeat that gets no audio: nothing is stored, so an engine would work for each repeat
   * without a charge.
   */
  readonly chargeRepeat = async (error: unknown): Promise<void> => {
    const unserved = this.#unserved(error);
    if (!unserved || !this.#admission.isRepeat || !keepsNoAudio(error)) return;
    await this.#recordUnserved(unserved, error).catch(() => {});
  };

  endSynthesis(reason: unknown = this.#context.signal.reason ?? streamEnded): void {
    this.#synthesis.abort(reason);
  }

  async #settle(error: unknown): Promise<void> {
    const { signal, idempotency } = this.#context;
    const unserved = this.#unserved(error);
    const hasDisconnected = signal.aborted && ![signal.reason, error].some(isServiceFailure);
    const mayBeKept = hasDisconnected && idempotency !== undefined;
    if (!mayBeKept) this.endSynthesis(error);
    const isCharged = unserved !== undefined && (await this.#isChargedFor(hasDisconnected, unserved, error));
    if (mayBeKept && (isCharged || this.#admission.isRepeat)) void this.#complete().catch(this.chargeRepeat);
    else this.endSynthesis(error);
    // If the serving cannot be recorded, the service is at fault, and nothing is charged.
    if (isCharged) await this.#recordUnserved(unserved, error).catch(() => {});
    this.#admission.release();
  }

  async #complete(): Promise<void> {
    const obtained = await this.#obtaining;
    if (obtained && "audio" in obtained) await readToEnd(obtained.audio[Symbol.asyncIterator]());
  }

  /**
   * The serving for which the failed request is charged; undefined if no engine has worked for it.
   */
  #unserved(error: unknown): NewServing | undefined {
    const { requestId } = this.#context;
    const audio = this.#audio;
    if (audio) {
      if (!wasMade(audio.source) && !this.#isSelectionWork) return undefined;
      const part = error instanceof ServiceError ? partOf(audio, { partBytes: 0 }) : {};
      return { ...servedAudio(this.#plan, requestId, audio), ...part, undelivered: true };
    }
    if (!this.#job?.engine.hasBegun) return undefined;
    const { source, engine } = this.#job;
    const served = servedAudio(this.#plan, requestId, {
      rendition: engine.rendition,
      source,
      failed: [],
    });
    return { ...served, undelivered: true };
  }

  async #isChargedFor(hasDisconnected: boolean, unserved: NewServing, error: unknown): Promise<boolean> {
    const { apiKey } = this.#context.principal;
    if (hasDisconnected)
      return !this.#admission.isRepeat && !(await departsFree(this.#options, apiKey, unserved));
    if (this.#context.signal.aborted) return false;
    // Work that yields no audio would otherwise be free for each repeat.
    if (!isCallersFault(error) || (this.#admission.isRepeat && !keepsNoAudio(error))) return false;
    return !(isSilence(error) && (await departsFree(this.#options, apiKey, unserved)));
  }

  /** Work without audio uses no Idempotency-Key: a repeat would need an engine again. */
  async #recordUnserved(unserved: NewServing, error: unknown): Promise<void> {
    const { idempotency } = this.#context;
    if (!idempotency || keepsNoAudio(error))
      await this.#record(unserved, { ...this.#admission, claim: undefined });
    else await this.#record({ ...unserved, idempotency }, this.#admission);
  }
}

const readToEnd = async (chunks: AsyncIterator<Buffer>): Promise<void> => {
  while (!(await chunks.next()).done);
};

/** The way in which the audio is delivered, as the ledger records it. */
type Delivery = Pick<NewServing, "partial" | "part" | "stream">;

const streamEnded = new Error("The stream has ended.");
