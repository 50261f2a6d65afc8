import { itSpeaksTheSame } from "../support/same-sound.ts";

describe("SSML", () => {
  itSpeaksTheSame("en-US", [
    ["<speak>One &amp; two.</speak>", "One & two."],
    ['<speak><lang xml:lang="en">One two.</lang></speak>', "One two."],
    ['<speak><lang xml:lang="zxx">One two.</lang></speak>', "One two."],
  ]);
});
