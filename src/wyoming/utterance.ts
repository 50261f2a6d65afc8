import { createIncomingText } from "../application/synthesis/incoming-text.ts";
import type { SynthesisRequest } from "../application/synthesis/planner.ts";
import { untilAborted } from "../async/deadline.ts";
import type { WebsiteConfig } from "../domain/accounts/website-config.ts";
import { Invalid } from "../domain/errors.ts";
import { countCharacters } from "../domain/synthesis/count-characters.ts";
import type { RequestedVoice } from "./events.ts";

/**
 * The manner in which an utterance is spoken: the request of each of its pieces, without the text.
 */
export type Manner = Omit<SynthesisRequest, "text">;

/**
 * The protocol has no pitch, rate or volume, and Home Assistant names no voice unless its user has
 * chosen one. The website's configuration supplies everything else.
 */
export const mannerOf = (requested: RequestedVoice, { voice }: WebsiteConfig): Manner => {
  const { pitch, rate, volume } = voice;
  const chosen = requested?.name
    ? { voice: requested.name }
    : requested?.language
      ? { lang: requested.language }
      : { voice: voice.name };
  return { ...chosen, prosody: { pitch, rate, volume }, format: "pcm", anyFormat: true };
};

/** A text to be spoken, whole or as it arrives. */
export interface Utterance {
  readonly manner: Manner;
  /** If true, `synthesize-stopped` follows the audio. */
  readonly isStreamed: boolean;
  /**
   * The parts of the text, each spoken and charged by itself. Read them only once.
   * @throws the signal's reason
   */
  pieces(signal: AbortSignal): AsyncIterable<string>;
}

/** An utterance whose text arrives in chunks. */
export interface StreamedUtterance extends Utterance {
  /** @throws {Invalid} if the text has become too long */
  add(chunk: string): void;
  end(): void;
}

/** @throws {Invalid} for a blank or too long text */
export const wholeUtterance = (text: string, manner: Manner, maxCharacters: number): Utterance => {
  if (text.trim() === "") throw invalidText("text is blank.");
  if (countCharacters(text) > maxCharacters) throw tooLong(maxCharacters);
  return {
    manner,
    isStreamed: false,
    pieces: async function* () {
      yield text;
    },
  };
};

export const streamedUtterance = (manner: Manner, maxCharacters: number): StreamedUtterance => {
  const text = createIncomingText(manner.lang ?? defaultLanguage);
  const ready: string[] = [];
  let characters = 0;
  let isComplete = false;
  let changed = Promise.withResolvers<void>();

  const add = (pieces: readonly string[]): void => {
    ready.push(...pieces);
    changed.resolve();
  };

  return {
    manner,
    isStreamed: true,
    pieces: async function* (signal) {
      for (;;) {
        for (let piece = ready.shift(); piece !== undefined; piece = ready.shift()) yield piece;
        if (isComplete) return;
        changed = Promise.withResolvers();
        await untilAborted(changed.promise, signal);
      }
    },
    add: (chunk) => {
      characters += countCharacters(chunk);
      if (characters > maxCharacters) throw tooLong(maxCharacters);
      add(text.add(chunk));
    },
    end: () => {
      isComplete = true;
      add(text.end());
    },
  };
};

/** The language whose rules for sentences apply if a request names only a voice. */
const defaultLanguage = "en";

const tooLong = (maxCharacters: number): Invalid =>
  invalidText(`text is longer than ${maxCharacters} characters.`);

const invalidText = (message: string): Invalid => new Invalid([{ path: ["text"], message }]);
