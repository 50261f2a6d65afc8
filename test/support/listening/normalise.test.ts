import { expect } from "chai";
import { openRecogniser } from "./recogniser.ts";

const same = [
  ["It's $5.", "it is five dollars"],
  ["$5.50", "five dollars and fifty cents"],
  ["£5.50", "five pounds fifty"],
  ["£5.50", "five pounds and fifty pence"],
  ["50p", "fifty pence"],
  ["€2.5 million", "two point five million euros"],
  ["10,000 people", "ten thousand people"],
  ["-5°C", "minus five degrees Celsius"],
  ["−5 degrees", "minus five degrees"],
  ["100%", "a hundred percent", "one hundred per cent"],
  ["3:30 p.m.", "three thirty PM"],
  ["3:00 pm", "three PM"],
  ["at 3:00", "at three o'clock"],
  ["3:05", "three oh five"],
  ["at 9.30", "at nine thirty"],
  ["9.05am", "nine oh five AM"],
  ["March 5th, 2026", "March fifth, twenty twenty-six"],
  ["the 5th of March", "the fifth of March"],
  ["60 km/h", "sixty kilometres per hour"],
  ["5 kg", "five kilograms"],
  ["10 lbs", "ten pounds"],
  ["2 + 2 = 4", "two plus two equals four"],
  ["3 x 4", "three times four"],
  ["½ a cup", "one half a cup"],
  ["3/4", "three quarters"],
  ["Dr. Smith", "Doctor Smith"],
  ["Henry VIII", "Henry the Eighth"],
  ["Queen Elizabeth II", "Queen Elizabeth the Second"],
  ["World War II", "World War two"],
  ["No. 5", "number five"],
  ["#5", "number five"],
  ["cats & dogs", "cats and dogs"],
  ["example.com", "example dot com"],
  ["bob@example.com", "Bob at example dot com"],
  ["555-1234", "five five five, one two three four"],
  ["The U.S.A.", "the USA"],
  ["version 3.0", "version three point zero"],
  ["0.5 of it", "zero point five of it"],
  ["2.0.1", "two point zero point one"],
  ["$1.2 million", "one point two million dollars"],
  ["C++ and C#", "C plus plus and C sharp"],
  ["tea and/or milk", "tea and or milk"],
  ["example.com/news", "example dot com slash news"],
  ["a half cup", "one half cup"],
  ["-$5", "minus five dollars"],
  ["7 - 3 = 4", "seven minus three equals four"],
  ["a $1 ticket", "a one dollar ticket"],
  ["Call +1 (555) 123", "Call plus one, five five five, one two three"],
  ["colour", "color"],
] as const;

const different = [
  ["It costs 5.", "It costs five pounds."],
  ["$5", "£5"],
  ["-5 degrees", "5 degrees"],
  ["$5.50", "$550"],
  ["3:30", "3:13"],
  ["10,000", "10 and 0"],
  ["50%", "50"],
  ["Henry VIII", "Henry eight"],
  ["5 km", "5 kg"],
  ["1/2", "12"],
  ["The ticket was $1.", "The ticket was one."],
  ["The balance is -$5.", "The balance is $5."],
  ["3.0", "3"],
  ["9.30 metres", "9:30 metres"],
] as const;

describe("The comparison of words", () => {
  const recogniser = openRecogniser();
  after(() => recogniser.close());

  for (const [one, ...others] of same) {
    for (const other of others) {
      it(`takes “${one}” and “${other}” for the same words`, async () => {
        expect(await recogniser.same([[one, other]])).to.deep.equal([true]);
      });
    }
  }

  for (const [one, other] of different) {
    it(`takes “${one}” and “${other}” for different words`, async () => {
      expect(await recogniser.same([[one, other]])).to.deep.equal([false]);
    });
  }
});
