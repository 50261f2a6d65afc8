import type {
  Audio,
  KnownAudio,
  RequestContext,
  Synthesis,
} from "../../../application/synthesis/delivery.ts";
import type { MarksWithPhonemes } from "../../../application/synthesis/marks-with-phonemes.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import { Invalid } from "../../../domain/errors.ts";
import { isAnyTag, noneMatchHits } from "../../caching/conditional.ts";
import { etagOf, type HttpResponse, requestedPart } from "../../kernel/audio-response.ts";
import { type AudioResponseOptions, createAudioResponses, type SynthesisMethod } from "./audio-responses.ts";

/** The parts of a request, besides its plan, that the response depends on. */
export interface SynthesisCall extends RequestContext {
  readonly method: SynthesisMethod;
  readonly ifNoneMatch?: string | undefined;
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
  /**
   * If true, the marks of the audio are sent, with phonemes, instead of the audio. Default: false.
   */
  readonly marks?: boolean;
  readonly signal: AbortSignal;
}

interface BuiltHeaders {
  readonly headers: readonly string[];
  /** Identifies the audio. A reference to its bytes would keep them in memory. */
  readonly length: Audio["length"];
}

interface PresenterOptions extends AudioResponseOptions {
  readonly synthesis: Synthesis;
  readonly marksWithPhonemes: MarksWithPhonemes;
}

export const createSynthesisPresenter = ({ synthesis, marksWithPhonemes, ...options }: PresenterOptions) => {
  const responses = createAudioResponses(options);

  const findCharged = (
    plan: SynthesisPlan,
    { principal, signal }: SynthesisCall,
  ): Promise<KnownAudio | undefined> => synthesis.findCharged(plan, principal.apiKey, signal);

  /**
   * True if the caller has the audio. A fallback's tag does not count, so that the first voice is
   * tried again.
   */
  const isUnchanged = async (plan: SynthesisPlan, call: SynthesisCall): Promise<boolean> =>
    isAnyTag(call.ifNoneMatch)
      ? (await findCharged(plan, call)) !== undefined
      : noneMatchHits(call.ifNoneMatch, [etagOf(plan.renditions[0].hash)]);

  const deliver = async (plan: SynthesisPlan, call: SynthesisCall): Promise<HttpResponse> => {
    const hasRange = call.method === "GET" && call.range !== undefined;
    const { audio, selection } = await synthesis.deliver(plan, call, {
      hasRange,
      select: ({ hash, bytes }) => {
        const part = hasRange ? requestedPart(call, hash, bytes.length) : "whole";
        return { part, partBytes: part === "whole" ? undefined : part.last - part.first + 1 };
      },
    });
    return responses.audio(plan, audio, call.method, selection.part);
  };

  /**
   * Responds with marks, and names the audio in `Link`. Each request is charged like one for the
   * audio. So is a repeat of an Idempotency-Key, because phonemes are not stored and an engine must
   * work again.
   */
  const deliverMarks = async (plan: SynthesisPlan, call: SynthesisCall): Promise<HttpResponse> => {
    requireMarks(plan);
    if (call.method === "HEAD") return responses.marks(plan.renditions[0]);
    const { principal, signal } = call;
    const context = { ...call, idempotency: undefined };
    const { audio, selection } = await synthesis.deliver(plan, context, {
      hasRange: false,
      select: async (audio, onBegin) => ({
        partBytes: undefined,
        lines: await marksWithPhonemes(audio, { apiKey: principal.apiKey, onBegin }, signal),
      }),
    });
    return responses.marks(audio.rendition, { audio, lines: selection.lines });
  };

  const builtHeaders = new WeakMap<SynthesisPlan, BuiltHeaders>();

  /**
   * The headers of a GET of whole audio in memory, for a shared plan: names and values in turn. Two
   * plans of the same audio may differ in a header (`Link`), so headers are built once for each
   * plan.
   */
  const headersFromMemory = (plan: SynthesisPlan, audio: Audio): readonly string[] => {
    const known = builtHeaders.get(plan);
    if (known?.length === audio.length) return known.headers;
    const headers = Object.entries(responses.audio(plan, audio, "GET", "whole").headers).flat();
    builtHeaders.set(plan, { headers, length: audio.length });
    return headers;
  };

  /**
   * Responds to a planned synthesis: 200 or 206 with recorded audio, 204 for silence, 304 if the
   * caller has the audio.
   * @throws {ServiceError}
   * @throws {RangeNotSatisfiable}
   */
  const present = async (plan: SynthesisPlan, call: SynthesisCall): Promise<HttpResponse> => {
    if (plan.muted) return responses.silence(plan, call.method);
    if (call.marks) return await deliverMarks(plan, call);
    if (call.method !== "POST" && (await isUnchanged(plan, call)))
      return responses.notModified(plan, call.method);
    // HEAD synthesizes nothing.
    if (call.method === "HEAD") return responses.head(plan, await findCharged(plan, call));
    return await deliver(plan, call);
  };

  return { present, headersFromMemory };
};

/**
 * Refuses a voice without marks, because the caller would pay for marks and get none.
 * @throws {Invalid}
 */
const requireMarks = ({ renditions: [first] }: SynthesisPlan): void => {
  if (first?.hasMarks) return;
  throw new Invalid([{ path: ["marks"], message: "The voice does not report when words are spoken." }]);
};

export type SynthesisPresenter = ReturnType<typeof createSynthesisPresenter>;
