import { expect } from "chai";
import { digitsOf, haveSameWords } from "../../../../src/domain/text/transcript/same-words.ts";

/** Each text, and transcripts of it. */
type Case = readonly [text: string, transcript: string, lang?: string];

const same: readonly Case[] = [
  ["The train leaves at nine.", "The train leaves at nine."],
  ["The train leaves at nine.", "the train leaves, at nine"],
  ["I’m here — don't go!", "I'm here, don’t go."],
  ["Send an e-mail to the U.S. office.", "Send an email to the US office."],
  ["The café is naïve.", "The cafe is naive."],
  ["It costs £5.", "It costs five pounds."],
  ["It costs £5.", "It costs £5."],
  ["It costs five pounds.", "It costs £5."],
  [
    "It costs $3.50 or $1.5 million.",
    "It costs three dollars and fifty cents or one point five million dollars.",
  ],
  ["In 1999, 42 people came.", "In nineteen ninety-nine, forty-two people came."],
  ["In 2026 the 21st was the 3rd time.", "In twenty twenty-six the twenty-first was the third time."],
  [
    "There are 1,234,567 of them.",
    "There are one million, two hundred thirty-four thousand, five hundred and sixty-seven of them.",
  ],
  ["Meet at 10:30 am.", "Meet at ten thirty AM."],
  ["Call 555-1234 now.", "Call five five five, one two three four now."],
  ["About 50% of 2 + 2 = 4.", "About fifty percent of two plus two equals four."],
  ["−5 °C & more", "Minus five degrees Celsius and more."],
  ["It weighs 5kg in the 1990s.", "It weighs five kilograms in the nineteen nineties."],
  ["Dr. Smith lives on Elm St.", "Doctor Smith lives on Elm Street."],
  ["Cats, e.g. lions, are okay.", "Cats, for example lions, are OK."],
  ["Hello 😀 world", "Hello world."],
  ["On 2026-01-06 it stops.", "On January sixth, 2026, it stops."],
  ["Es kostet 5 €.", "Es kostet fünf Euro.", "de-DE"],
  ["Er fährt 1999 nach Zürich.", "er fährt neunzehnhundertneunundneunzig nach zürich", "de"],
  ["Um 14:30 Uhr.", "Um vierzehn Uhr dreißig.", "de-DE"],
  ["Die Straße.", "Die Strasse.", "de-CH"],
  ["J'ai 99 ballons.", "J'ai quatre-vingt-dix-neuf ballons.", "fr-FR"],
  ["Năm 1999.", "Năm một nghìn chín trăm chín mươi chín.", "vi-VN"],
  ["1999ねん", "せんきゅうひゃくきゅうじゅうきゅうねん", "ja-JP"],
  ["It is 5 km away.", "It is five kilometres away."],
  ["A limit of 30 mph.", "A limit of thirty miles per hour."],
  ["你好，世界！", "你好世界", "zh-CN"],
  ["他有３本书。", "他有三本书。", "zh-CN"],
  ["Привет, мир!", "привет мир", "ru-RU"],
  ["नमस्ते दुनिया।", "नमस्ते दुनिया", "hi-IN"],
];

const different: readonly Case[] = [
  ["I'm here.", "I am here."],
  ["I am here.", "I'm here."],
  ["It is late.", "It's late."],
  ["The train leaves at nine.", "The train leaves at ten."],
  ["The train leaves at nine.", "The train leaves."],
  ["The train leaves.", "The train leaves at nine."],
  ["The train leaves at nine.", "Sure! The train leaves at nine."],
  ["The train leaves at nine.", ""],
  ["What is the capital of France?", "The capital of France is Paris."],
  ["It costs £5.", "It costs six pounds."],
  ["It costs £5.", "It costs £6."],
  ["It costs £5 today.", "It costs five pounds."],
  ["In 1999 it ended.", "In nineteen ninety-eight it ended."],
  ["There are 42 people.", "There are many people."],
  ["You cannot go.", "You can go."],
  ["We are going to go.", "We are gonna go."],
  ["We have 5 and more.", "We have 5 more."],
  ["1 dog barked.", "A dog barked."],
  ["A constructor.", "A valueOf."],
  ["Es kostet 5 €.", "Das kostet fünf Euro.", "de-DE"],
  ["Um 14:30 Uhr kam er.", "Um vierzehn Uhr dreißig kam sie.", "de-DE"],
  ["Ich habe 3 Äpfel.", "Ich habe drei Äpfel und noch zwei Birnen.", "de-DE"],
  ["Ich habe 3 Äpfel.", "Ich habe leider gestern und heute keine Äpfel.", "de-DE"],
  ["你好，世界！", "您好，世界！", "zh-CN"],
];

describe("A transcript", () => {
  for (const [text, transcript, lang = "en-US"] of same) {
    it(`has the words of its text: ${text} (${transcript})`, () => {
      expect(haveSameWords(text, transcript, lang)).to.equal(true);
    });
  }
  for (const [text, transcript, lang = "en-US"] of different) {
    it(`has other words than its text: ${text} (${transcript})`, () => {
      expect(haveSameWords(text, transcript, lang)).to.equal(false);
    });
  }

  it("is compared in a moment, however hard that is", () => {
    for (const text of ["1 ".repeat(400), "a ".repeat(400), "$ ".repeat(400), `${"1 a $ ".repeat(130)}`]) {
      const other = text.replaceAll("1", "one");
      haveSameWords(`${text} x`, `${other} y`, "en");
      expect(haveSameWords(text, text, "de")).to.equal(true);
    }
  }).timeout(20_000);

  for (const [words, digits] of [
    ["nineteen ninety nine", "1999"],
    ["one thousand nine hundred and ninety nine", "1999"],
    ["two thousand twenty six", "2026"],
    ["twenty oh five", "2005"],
    ["ten thirty", "1030"],
    ["five point two", "52"],
    ["zero point five", "5"],
    ["two hundred thousand", "200000"],
    ["one million two hundred thirty four thousand five hundred sixty seven", "1234567"],
    ["three quarters", "34"],
  ] as const) {
    it(`has numbers in words: ${words}`, () => {
      expect(digitsOf(words.split(" "))).to.equal(digits);
    });
  }
});
