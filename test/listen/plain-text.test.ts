import { itSpeaksTheSame } from "../support/same-sound.ts";

describe("A plain text", () => {
  itSpeaksTheSame("en-GB", [["It costs 5 pounds.", "It costs five pounds."]]);
  itSpeaksTheSame("en-US", [["It costs 5 pounds.", "It costs five pounds."]], "flite");
  itSpeaksTheSame("de-DE", [["Das kostet 5 Euro.", "Das kostet fünf Euro."]]);
});
