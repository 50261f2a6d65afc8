import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { createSingleFlight } from "../../async/single-flight.ts";
import type { AudioLength } from "../../audio/formats/audio-length.ts";
import type { KnownAudio, Pipeline, Rendition } from "../../audio/pipeline/pipeline.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Receipt } from "../../domain/ledger/journal/serving.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { Ledger, NewServing } from "../../ledger/ledger.ts";
import type { AskingLimit, RefusingLimit } from "../../limits/limit.ts";
import { tryWithMore } from "../../limits/limits.ts";
import type { ActingKey } from "../access/principal.ts";
import { departsFree, isSilence, keepsNoAudio, servedAudio, voidIfFree } from "../synthesis/charges.ts";
import type { Planner } from "../synthesis/planner.ts";
import type { PartSpeaker } from "./part-speaker.ts";
import { type ArticlePart, type PlannedPart, planParts, type SpokenPart } from "./planned-part.ts";

export type { ArticlePart };

/** A part of an article: `silent` ones have no audio. */
export type PreparedPart = Pick<ArticlePart, "id" | "request"> & {
  /** The characters that it is charged, once a month; 0 without audio. */
  readonly characters: number;
} & (
    | { readonly state: "ready"; readonly rendition: Rendition; readonly length: AudioLength }
    | { readonly state: "pending"; readonly rendition: Rendition }
    | { readonly state: "silent" }
    | { readonly state: "failed"; readonly error: ServiceError }
  );

export interface PreparedArticle {
  readonly parts: readonly PreparedPart[];
  /** Parts with the same audio count once. */
  readonly characters: number;
}

interface ArticlesOptions {
  readonly plan: Planner["plan"];
  readonly ledger: Pick<Ledger, "record" | "recordOnce" | "voidServing">;
  readonly pipeline: Pick<Pipeline, "statRendition">;
  readonly speaker: PartSpeaker;
  readonly articles: RefusingLimit;
  readonly departures: AskingLimit;
  readonly clock: () => EpochMs;
}

export type Articles = ReturnType<typeof createArticles>;

/** The charged parts that this process remembers. Each takes about 200 bytes. */
const maxRemembered = 50_000;
const maxStats = 16;

/**
 * Prepares articles: records their parts, each once per website, month and name, and then speaks
 * those that have no audio.
 */
export const createArticles = (options: ArticlesOptions) => {
  const { plan, ledger, pipeline, speaker, articles, departures, clock } = options;
  const charged = new LRUCache<string, true>({ maxSize: maxRemembered, sizeCalculation: () => 1 });
  const flights = createSingleFlight<ReadonlyMap<string, KnownAudio | undefined>>();

  const stat = (part: SpokenPart): Promise<KnownAudio | undefined> => {
    const [first] = part.renditions;
    return pipeline.statRendition(speaker.fallback(first.hash) ?? first, never());
  };

  /** Resolves with what exists of each part's audio, by hash. */
  const prepare = async (
    principal: ActingKey,
    requestId: string,
    parts: readonly SpokenPart[],
  ): Promise<ReadonlyMap<string, KnownAudio | undefined>> => {
    const { apiKey, websiteId } = principal;
    const month = monthOf(new Date(clock()).toISOString());
    const partKeyOf = ({ renditions: [{ hash: name }] }: SpokenPart): string =>
      hash("sha256", JSON.stringify([websiteId, month, name]), "base64url").slice(0, digestLength);
    const known = await pLimit(maxStats).map(parts, stat);
    const isMissing = ({ renditions: [{ hash }] }: SpokenPart, index: number): boolean =>
      known[index] === undefined && !speaker.isWaitingFor(hash, apiKey);
    // Another process may have voided the charge of a part that it could not speak.
    const due = parts.filter((part, index) => isMissing(part, index) || !charged.has(partKeyOf(part)));
    using slot = new DisposableStack();
    if (due.length > 0) {
      speaker.requireRoom();
      slot.defer(await tryWithMore(() => articles.acquire(apiKey)));
    }
    /** What is recorded before an engine works. */
    const serve = (part: SpokenPart): NewServing => {
      const index = parts.indexOf(part);
      const source = known[index]?.source ?? "miss";
      const [rendition] = part.renditions;
      return servedAudio(part.plan, `${requestId}-${index + 1}`, { rendition, source, failed: [] });
    };
    const receipts = await ledger.recordOnce(
      principal,
      due.map((part) => ({
        ...serve(part),
        idempotency: { key: partKeyOf(part), request: partKeyOf(part), website: websiteId },
      })),
      never(),
    );
    for (const part of due) charged.set(partKeyOf(part), true);
    const missing = parts.filter(isMissing);
    if (missing.length > 0) {
      const held = slot.move();
      const onFailed = async (part: SpokenPart, error: unknown): Promise<void> => {
        const receipt = receipts.find(({ serving }) => serving.hash === part.renditions[0].hash);
        if (!keepsNoAudio(error) || isSilence(error)) charged.delete(partKeyOf(part));
        if (receipt) await settle(receipt, error);
        else if (keepsNoAudio(error)) await chargeUnlessFree(principal, serve(part));
      };
      void speaker.speak({ apiKey, parts: missing, onFailed }).finally(() => held.dispose());
    }
    return new Map(parts.map(({ renditions: [{ hash }] }, index) => [hash, known[index]]));
  };

  /** A part that the service could not speak is not charged. */
  const settle = async (receipt: Receipt, error: unknown): Promise<void> => {
    if (!keepsNoAudio(error)) await ledger.voidServing(receipt);
    else if (isSilence(error)) await voidIfFree({ ledger, departures }, receipt);
  };

  /**
   * An engine has worked again for a text at fault, which this process did not remember. No audio
   * is kept of it, so it would be tried for ever on one charge.
   */
  const chargeUnlessFree = async (principal: ActingKey, served: NewServing): Promise<void> => {
    if (!(await departsFree({ departures }, principal.apiKey, served)))
      ledger.record(principal, served, () => {});
  };

  const present = (
    planned: PlannedPart,
    known: ReadonlyMap<string, KnownAudio | undefined>,
  ): PreparedPart => {
    const { id, request } = planned;
    const part = { id, request, characters: 0 };
    if (planned.kind === "silent") return { ...part, state: "silent" };
    if (planned.kind === "failed") return { ...part, state: "failed", error: planned.error };
    const [first] = planned.renditions;
    const refusal = speaker.refusal(first.hash);
    if (isSilence(refusal)) return { ...part, state: "silent" };
    if (refusal instanceof ServiceError) return { ...part, state: "failed", error: refusal };
    const { characters } = planned.plan;
    const audio = known.get(first.hash);
    if (!audio) return { ...part, characters, state: "pending", rendition: first };
    return { ...part, characters, state: "ready", rendition: audio.rendition, length: audio.length };
  };

  return {
    /**
     * Records all parts that the website was not charged for in this month, or none. Resolves
     * before any of them is spoken.
     * @throws {Invalid} with the path of a part
     * @throws {NotFound} if there is no voice for any part
     * @throws {KeyIsSuspended} if the parts to be charged exceed the quota
     * @throws {RateLimited} {Unavailable}
     */
    prepare: async (
      principal: ActingKey,
      requestId: string,
      given: readonly ArticlePart[],
    ): Promise<PreparedArticle> => {
      const planned = await planParts((request) => plan(request, principal.websiteId), given);
      const spoken = distinct(planned.filter(isSpoken)).filter(
        ({ renditions: [{ hash }] }) => speaker.refusal(hash) === undefined,
      );
      const names = spoken.map(({ renditions: [{ hash }] }) => hash);
      const flight = `${principal.apiKey} ${hash("sha256", names.join())}`;
      const { value: known } = await flights.run(
        flight,
        () => prepare(principal, requestId, spoken),
        never(),
      );
      const characters = spoken.reduce((sum, part) => sum + part.plan.characters, 0);
      return { parts: planned.map((part) => present(part, known)), characters };
    },
    close: speaker.close,
  };
};

const digestLength = 22;

/**
 * What was begun for a client that has left is completed, because others read the same article. A
 * new signal each time: one that is never aborted would keep the memory of all its listeners.
 */
const never = (): AbortSignal => new AbortController().signal;

const isSpoken = (part: PlannedPart): part is PlannedPart & { readonly kind: "spoken" } =>
  part.kind === "spoken";

const distinct = (parts: readonly SpokenPart[]): SpokenPart[] => [
  ...new Map(parts.map((part) => [part.renditions[0].hash, part])).values(),
];
