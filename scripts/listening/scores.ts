import type { Hearing, Listener } from "../../test/support/listening/listener.ts";
import type { Pair } from "../../test/support/same-sound.ts";

export interface Sentences {
  readonly plain: readonly string[];
  readonly hard: readonly Pair[];
}

/** A sentence that was heard wrong. */
export interface HeardWrong {
  readonly text: string;
  readonly words: string;
  readonly heard: string;
  readonly file: string;
  /** False if the recogniser does not understand this voice's words either. */
  readonly rightInWords: boolean;
}

export interface VoiceScore {
  readonly voice: string;
  /** The word error rate of the plain sentences; null if there are none. */
  readonly wordErrorRate: number | null;
  readonly naturalness: number | null;
  readonly plain: { readonly sentences: number; readonly right: number };
  readonly hard: {
    readonly sentences: number;
    readonly right: number;
    readonly rightInWords: number;
    /** The number of sentences that were heard right both as written and in words. */
    readonly rightInBoth: number;
  };
  readonly heardWrong: readonly HeardWrong[];
}

export const scoreVoice = async (
  { hear }: Pick<Listener, "hear">,
  voice: string,
  { plain, hard }: Sentences,
): Promise<VoiceScore> => {
  const plainHearings: Hearing[] = [];
  const pairs: { text: string; words: string; written: Hearing; rightInWords: boolean }[] = [];
  for (const text of plain) plainHearings.push(await hear(voice, text));
  for (const [text, words] of hard) {
    const { right: rightInWords } = await hear(voice, words);
    pairs.push({ text, words, rightInWords, written: await hear(voice, text, words) });
  }
  const sumOf = (member: "errors" | "words" | "naturalness"): number =>
    plainHearings.reduce((sum, hearing) => sum + hearing[member], 0);
  const isPlain = plain.length > 0;
  return {
    voice,
    wordErrorRate: isPlain ? sumOf("errors") / sumOf("words") : null,
    naturalness: isPlain ? sumOf("naturalness") / plain.length : null,
    plain: { sentences: plain.length, right: plainHearings.filter(({ right }) => right).length },
    hard: {
      sentences: hard.length,
      right: pairs.filter(({ written }) => written.right).length,
      rightInWords: pairs.filter(({ rightInWords }) => rightInWords).length,
      rightInBoth: pairs.filter(({ written, rightInWords }) => written.right && rightInWords).length,
    },
    heardWrong: [
      ...plainHearings.map((written, at) => {
        const text = plain[at] ?? "";
        return { text, words: text, written, rightInWords: written.right };
      }),
      ...pairs,
    ].flatMap(({ written: { right, heard, file }, ...sentence }) =>
      right ? [] : [{ ...sentence, heard, file }],
    ),
  };
};

/**
 * Of the hard sentences whose words were recognised, the share that was also recognised as it is
 * written.
 */
export const shareOf = ({ hard }: VoiceScore): number => hard.rightInBoth / hard.rightInWords;
