import { itSpeaksTheSame } from "../support/same-sound.ts";
import { signsAndNumbers } from "./signs.ts";

describe("Signs and numbers", () => {
  for (const [lang, both] of Object.entries(signsAndNumbers)) itSpeaksTheSame(lang, both);

  itSpeaksTheSame(
    "en-US",
    [
      ["It costs £5.", "It costs five pounds."],
      ["$1.50", "one dollar and fifty cents"],
      ["5 €", "five euros"],
      ["−5 degrees", "minus five degrees"],
      ["5 °C", "five degrees Celsius"],
      ["x²", "x squared"],
      ["3 × 4", "three times four"],
      ["½", "one half"],
      ["10\u202f000 people", "ten thousand people"],
      ["ﬁnal", "final"],
      ["a ± b", "a plus or minus b"],
      ["٥", "five"],
    ],
    "flite",
  );
});
