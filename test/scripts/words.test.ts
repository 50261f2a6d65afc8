import { readFileSync } from "node:fs";
import { expect } from "chai";
import { findOldWords, type OldWord, readGlossary } from "../../scripts/words.ts";

const page = `# Contributing

## Words

| Word | Meaning | Not |
|---|---|---|
| audio | the bytes that a client receives | sound, (object) |
| close | end a journal | abandon |
| forget | remove from memory | abandon |
| response | what a client gets for a request | answer, reply |

## Tests

| A | sound | table |
`;

describe("The check of words", () => {
  const glossary = readGlossary(page);
  const found = (file: string, ...lines: string[]): OldWord[] =>
    findOldWords(glossary, file, lines.join("\n"));
  const wordsIn = (file: string, ...lines: string[]): string[] =>
    found(file, ...lines).map(({ word }) => word);

  it("reads old words and their replacements from the glossary: those in parentheses are ambiguous", () => {
    expect([...glossary]).to.deep.equal([
      ["sound", { replacement: "audio", isAmbiguous: false }],
      ["object", { replacement: "audio", isAmbiguous: true }],
      ["abandon", { replacement: "close or forget", isAmbiguous: false }],
      ["answer", { replacement: "response", isAmbiguous: false }],
      ["reply", { replacement: "response", isAmbiguous: false }],
    ]);
  });

  it("names the file, the line, the word and its replacement", () => {
    expect(found("src/a.ts", "", "const firstSound = 1;")).to.deep.equal([
      { file: "src/a.ts", line: 2, word: "Sound", replacement: "audio" },
    ]);
  });

  it("finds old words in declared names of every kind, in all their forms", () => {
    const source = [
      "interface Answer { readonly isAnswered: boolean; reply(): void }",
      "class Replies { #sounds = 0; abandonAll(answering: boolean) {} }",
      "const { length: soundLength } = names;",
    ];
    expect(wordsIn("src/a.ts", ...source)).to.deep.equal([
      "Answer",
      "Answered",
      "reply",
      "Replies",
      "sounds",
      "abandon",
      "answering",
      "sound",
    ]);
  });

  it("finds old words in comments, documents and the names of files", () => {
    expect(wordsIn("src/a.ts", "/** The sound. */", "const one = 1; // It answers.")).to.deep.equal([
      "sound",
      "answers",
    ]);
    expect(wordsIn("docs/sounds.md", "An answer.")).to.deep.equal(["sounds", "answer"]);
  });

  const contributing = readGlossary(readFileSync("CONTRIBUTING.md", "utf8"));
  const folders = {
    "src/async/scheduler/": ["claim", "turn", "place", "order", "work"],
    "src/subprocess/speech/": ["claim", "turn", "place", "order", "work"],
    "src/application/synthesis/": ["whole", "left"],
    "src/audio/pipeline/": ["whole", "left"],
    "src/ledger/": ["uptime", "timers"],
  };
  for (const [folder, words] of Object.entries(folders)) {
    it(`finds ambiguous words only in names, and only where they are wrong: in ${folder}`, () => {
      for (const word of words) {
        const source = `interface Names { readonly ${word}: number; ${word}Of(): number } // ${word}`;
        const namesIn = (path: string): string[] =>
          findOldWords(contributing, `${path}names.ts`, source).map((one) => one.word);
        expect(namesIn(folder)).to.deep.equal([word, word]);
        expect(namesIn("src/application/clock/")).to.deep.equal([]);
      }
    });
  }

  it("accepts parts of words, strings, code in prose, and properties that are declared elsewhere", () => {
    const source = [
      "const resound = { sound: 'answer' };",
      "const { sound, answer: other } = resound; // `answer`",
    ];
    expect(wordsIn("src/a.ts", ...source)).to.deep.equal([]);
    expect(wordsIn("docs/a.md", "Send `answer`:", "```json", '{ "sound": 1 }', "```")).to.deep.equal([]);
  });

  it("leaves out the glossary, and what is released", () => {
    expect(wordsIn("CONTRIBUTING.md", page)).to.deep.equal(["sound"]); // in the table after it
    const changes = ["## Unreleased", "", "- Audio.", "", "## [0.1.0]", "", "- An answer."];
    expect(wordsIn("CHANGELOG.md", ...changes)).to.deep.equal([]);
  });
});
