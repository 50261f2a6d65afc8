import { shareOf, type VoiceScore } from "./scores.ts";

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

const columns: readonly (readonly [title: string, cell: (score: VoiceScore) => string])[] = [
  ["Voice", ({ voice }) => voice],
  ["Word errors", ({ wordErrorRate }) => (wordErrorRate === null ? "" : percent(wordErrorRate))],
  ["Plain right", ({ plain }) => `${plain.right} of ${plain.sentences}`],
  ["DNSMOS", ({ naturalness }) => naturalness?.toFixed(2) ?? ""],
  ["Hard right", ({ hard }) => `${hard.right} of ${hard.sentences}`],
  ["In words right", ({ hard }) => String(hard.rightInWords)],
  ["Right of these", (score) => (score.hard.rightInWords === 0 ? "" : percent(shareOf(score)))],
];

export const tableOf = (scores: readonly VoiceScore[]): string => {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(columns.map(([title]) => title)),
    row(columns.map((_, at) => (at === 0 ? "---" : "---:"))),
    ...scores.map((score) => row(columns.map(([, cell]) => cell(score)))),
  ].join("\n");
};

/**
 * Lists the sentences of one voice that were heard wrong: first those that are heard right if they
 * are written in words, then the others.
 */
export const heardWrongText = ({ voice, heardWrong }: VoiceScore): string => {
  const lines = heardWrong
    .toSorted((a, b) => Number(b.rightInWords) - Number(a.rightInWords))
    .map(({ text, words, heard, file, rightInWords }) => {
      const expected =
        words === text ? "" : `\n    in words: ${words}${rightInWords ? "" : " (heard wrong too)"}`;
      return `  ${text}${expected}\n    heard:    ${heard}\n    audio:    ${file}`;
    });
  return [`${voice}: ${heardWrong.length} heard wrong`, ...lines].join("\n");
};
