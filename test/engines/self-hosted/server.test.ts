import { expect } from "chai";
import { parseSelfHosted } from "../../../src/engines/self-hosted/server.ts";

const at = (query: string) => parseSelfHosted(`openai:http://127.0.0.1:8880/v1?${query}`);
const voices = (list: string) => at(`model=m&voices=${list}`).voices;

describe("The setting of a self-hosted speech server", () => {
  it("consists of a base URL with a model, voices and optionally a key", () => {
    expect(at("model=kokoro&voices=af_bella&key=se%2Cc%26ret")).to.deep.equal({
      baseUrl: "http://127.0.0.1:8880/v1",
      model: "kokoro",
      apiKey: "se,c&ret",
      voices: [{ name: "af_bella", lang: "en-US", gender: "f" }],
    });
    expect(at("model=m&voices=v")).not.to.have.property("apiKey");
  });

  it("declares the language and gender of its voices, or derives them from their names", () => {
    expect(
      voices("af_bella,bm_george,ef_dora,fm_x,zf_xiaobei,jm_kumo,hf_alpha,if_sara,pm_alex"),
    ).to.deep.equal([
      { name: "af_bella", lang: "en-US", gender: "f" },
      { name: "bm_george", lang: "en-GB", gender: "m" },
      { name: "ef_dora", lang: "es-ES", gender: "f" },
      { name: "fm_x", lang: "fr-FR", gender: "m" },
      { name: "zf_xiaobei", lang: "zh-CN", gender: "f" },
      { name: "jm_kumo", lang: "ja-JP", gender: "m" },
      { name: "hf_alpha", lang: "hi-IN", gender: "f" },
      { name: "if_sara", lang: "it-IT", gender: "f" },
      { name: "pm_alex", lang: "pt-BR", gender: "m" },
    ]);
    expect(
      voices("thorsten@de-DE:m, anna@de-DE ,onyx,xf_other,bm_george@en-US,af_bella@en-AU:m"),
    ).to.deep.equal([
      { name: "thorsten", lang: "de-DE", gender: "m" },
      { name: "anna", lang: "de-DE", gender: "f" },
      { name: "onyx", lang: "en-US", gender: "m" },
      { name: "xf_other", lang: "en-US", gender: "f" },
      { name: "bm_george", lang: "en-US", gender: "m" },
      { name: "af_bella", lang: "en-AU", gender: "m" },
    ]);
  });

  it("may mix voices with a plus sign, and percent-encode any other character", () => {
    expect(voices("af_bella+af_sky,Anna%20B.").map(({ name }) => name)).to.deep.equal([
      "af_bella+af_sky",
      "Anna B.",
    ]);
  });

  for (const [value, why] of [
    ["http://host/v1?model=m&voices=v", "must be openai:URL"],
    ["openai:", "must be openai:URL"],
    ["openai:host?model=m&voices=v", "must be openai:URL"],
    ["openai:file:///x?model=m&voices=v", "must be openai:URL"],
    ["openai:http://me:secret@host/?model=m&voices=v", "must contain no credentials"],
    ["openai:http://host/?voices=v&key=secret", "must name the model="],
    ["openai:http://host/?model=m&key=secret", "must name its voices="],
    ["openai:http://host/?model=m&voices=,&key=secret", "voices="],
    ["openai:http://host/?model=m&voices=v&captions=secret", "must have captions= as true or false"],
    [
      "openai:http://host/?model=m&voices=v&token=secret",
      "may have only the parameters model=, voices=, key= and captions=",
    ],
    [
      "openai:http://host/?model=m&voices=v&secret",
      "may have only the parameters model=, voices=, key= and captions=",
    ],
    ["openai:http://host/?model=m&voices=v&key=secret&key=secret", "must not repeat a parameter"],
    ["openai:http://host/?model=m&voices=v&key=sec%0Aret", "must have a key= of visible ASCII"],
    ["openai:http://host/?model=m&voices=v&key=secret%", "must write % as %25"],
    ["openai:http://host/?model=m&voices=v,v", "must not repeat a voice"],
    ["openai:http://host/?model=m&voices=ok,v@", "number 2"],
    ["openai:http://host/?model=m&voices=v@not_a_tag", "number 1"],
    ["openai:http://host/?model=m&voices=v@de:x", "number 1"],
    ["openai:http://host/?model=m&voices=a%2Fb", "number 1"],
  ] as const) {
    it(`is refused with a message that does not repeat it: ${value}`, () => {
      expect(() => parseSelfHosted(value))
        .to.throw(why)
        .with.property("message")
        .not.match(/secret|ret\b|\n/);
    });
  }
});
