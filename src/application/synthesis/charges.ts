import type { Audio } from "../../audio/pipeline/pipeline.ts";
import {
  EngineFailed,
  Invalid,
  NothingToSpeak,
  ReadersStalled,
  Reworded,
  ServiceError,
  Unavailable,
  Unpronounceable,
} from "../../domain/errors.ts";
import type { AudioSource, Receipt } from "../../domain/ledger/journal/serving.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import type { Ledger, NewServing } from "../../ledger/ledger.ts";
import type { AskingLimit } from "../../limits/limit.ts";
import type { SynthesisPlan } from "./planner.ts";

/*
 * This file decides what the ledger records of audio and what is charged. Failures of the service
 * are not charged. Work for callers that disconnect, and for texts of which nothing can be heard,
 * is not charged within a limit.
 */

/** Says how much of the audio is sent. */
export interface Selection {
  /** The size of the part; undefined if all of the audio is sent. */
  readonly partBytes?: number | undefined;
}

export const wasMade = (source: AudioSource): boolean => source === "miss" || source === "coalesced";

export const isServiceFailure = (error: unknown): boolean =>
  error instanceof Unavailable ||
  (error instanceof EngineFailed && !(error instanceof ReadersStalled || error instanceof Reworded));

export const isCallersFault = (error: unknown): boolean =>
  error instanceof ServiceError && !isServiceFailure(error);

/** True if an engine has worked and nothing is kept of its work. */
export const keepsNoAudio = (error: unknown): error is Invalid | Reworded =>
  error instanceof Invalid || error instanceof Reworded;

/**
 * True if nothing of the text can be heard. A tool usually finds out in a few milliseconds. At a
 * volume near 0, or if SSML mutes the text, the tool takes as long as for any other text.
 */
export const isSilence = (error: unknown): boolean =>
  error instanceof NothingToSpeak || error instanceof Unpronounceable;

/**
 * True if a caller that has disconnected without any audio, or whose text is silent, is not
 * charged; this counts against `departures`. The work of a provider costs money, so a caller is
 * always charged for it.
 */
export const departsFree = async (
  { departures }: { readonly departures: AskingLimit },
  apiKey: string,
  { engine, cached }: Pick<NewServing, "engine" | "cached">,
): Promise<boolean> => !(isByok(engine) && wasMade(cached)) && (await departures.tryAcquire(apiKey));

export const voidIfFree = async (
  options: { readonly departures: AskingLimit; readonly ledger: Pick<Ledger, "voidServing"> },
  receipt: Receipt,
): Promise<void> => {
  const { serving } = receipt;
  if (await departsFree(options, serving.apiKey, serving)) void options.ledger.voidServing(receipt);
};

/** For private audio a charge pays for a number of bytes, so the size of the part is recorded. */
export const partOf = (
  { rendition, bytes }: Audio,
  { partBytes }: Selection,
): Pick<NewServing, "partial" | "part"> => {
  if (partBytes === undefined) return {};
  if (rendition.recipe.websiteId === undefined) return { partial: true };
  return { partial: true, part: { bytes: partBytes, size: bytes.length } };
};

/** Optional members are added only where they exist, because every cached GET calls this. */
export const servedAudio = (
  { characters }: SynthesisPlan,
  requestId: string,
  { rendition: { recipe, hash, voice }, source, failed }: Pick<Audio, "rendition" | "source" | "failed">,
): NewServing => {
  const { engine, lang, format } = recipe;
  const served = { requestId, hash, characters, engine, voice, lang, format, cached: source };
  return failed.length > 0 ? { ...served, failed } : served;
};
