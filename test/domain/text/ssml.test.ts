import { expect } from "chai";
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { Invalid } from "../../../src/domain/errors.ts";
import { isSsml } from "../../../src/domain/text/is-ssml.ts";
import { anyDialect, parseSsml } from "../../../src/domain/text/ssml.ts";
import { anyCharacter } from "../../support/any-character.ts";

const refusal = (text: string): Invalid => {
  try {
    parseSsml(text);
  } catch (error) {
    if (error instanceof Invalid) return error;
    throw error;
  }
  throw new Error("it was not refused");
};

const known = ["speak", "p", "s", "lang", "break", "say-as", "emphasis", "prosody", "phoneme"];

describe("isSsml", () => {
  for (const text of [
    "<speak>x</speak>",
    "<speak\n>x</speak>",
    "<speak/>",
    "<speak",
    "  \n<speak>x</speak>",
    "\uFEFF<speak>x</speak>",
    '<?xml version="1.0"?><speak>x</speak>',
    "<!DOCTYPE speak><speak>x</speak>",
  ]) {
    it(`is true for text that begins with <speak: ${JSON.stringify(text)}`, () =>
      expect(isSsml(text)).to.equal(true));
  }

  for (const text of [
    "",
    "speak",
    "<speaker>x</speaker>",
    "< speak>",
    "I say <speak>x</speak>",
    "<SPEAK>x</SPEAK>",
  ]) {
    it(`is false for other text: ${JSON.stringify(text)}`, () => expect(isSsml(text)).to.equal(false));
  }
});

describe("Validated SSML", () => {
  for (const [rule, given, expected] of [
    [
      "keeps the elements that every engine supports",
      "<speak><p><s>a</s></p></speak>",
      "<speak><p><s>a</s></p></speak>",
    ],
    [
      "has empty break elements",
      "<speak>a<break></break>b</speak>",
      '<speak>a<break strength="medium"/>b</speak>',
    ],
    [
      "has sorted attributes",
      '<speak><prosody rate="slow" pitch="+2st">a</prosody></speak>',
      '<speak><prosody pitch="+2st" rate="slow">a</prosody></speak>',
    ],
    ["has no comments or processing instructions", "<speak>a<!-- b --><?c d?></speak>", "<speak>a</speak>"],
    ["has no namespaces", '<speak xmlns="urn:a" xmlns:b="urn:b" b:c="d">a</speak>', "<speak>a</speak>"],
    [
      "has no version or language on its root",
      '<speak version="1.0" xml:lang="fr-FR">a</speak>',
      "<speak>a</speak>",
    ],
    ["has no language on sentences", '<speak><s xml:lang="fr-FR">a</s></speak>', "<speak><s>a</s></speak>"],
    [
      "keeps the language of a lang element",
      '<speak><lang xml:lang="fr-FR">a</lang></speak>',
      '<speak><lang xml:lang="fr-FR">a</lang></speak>',
    ],
    [
      "has no voice elements: the request selects the voice",
      '<speak><voice name="../x">a</voice></speak>',
      "<speak>a</speak>",
    ],
    [
      "has an alias as plain text",
      '<speak><sub alias="A &lt;b/&gt;">c<break/></sub></speak>',
      "<speak>A &lt;b/&gt;</speak>",
    ],
    [
      "has character data escaped",
      "<speak><![CDATA[<audio src='a'/>]]></speak>",
      "<speak>&lt;audio src='a'/&gt;</speak>",
    ],
    [
      "has no elements of Azure: only its voices take them",
      '<speak><mstts:express-as style="sad" role="Girl">a</mstts:express-as><mstts:silence type="Leading" value="1s"/></speak>',
      "<speak>a</speak>",
    ],
    [
      "has times as CSS writes them",
      '<speak>a<break time=".5s"/><break time="+1s"/><break time="1.25s"/></speak>',
      '<speak>a<break time="500ms"/><break time="1000ms"/><break time="1250ms"/></speak>',
    ],
    [
      "has references resolved",
      "<speak>&#60;&#x3e;&amp;&quot;&apos;</speak>",
      "<speak>&lt;&gt;&amp;\"'</speak>",
    ],
    ["has no carriage returns", "<speak>a&#13;b</speak>", "<speak>a\nb</speak>"],
    ["has no surrounding whitespace", " \uFEFF<speak>a</speak>\u00A0\n", "<speak>a</speak>"],
  ] as const) {
    it(rule, () => expect(parseSsml(given)).to.equal(expected));
  }

  it("limits a break to ten seconds", () => {
    for (const time of ["3600s", "10001ms", "999999.9s"]) {
      expect(parseSsml(`<speak>a<break time="${time}"/></speak>`)).to.equal(
        '<speak>a<break time="10000ms"/></speak>',
      );
    }
  });

  it("limits all breaks together to one minute", () => {
    const times = parseSsml(`<speak>a${'<break time="7s"/>'.repeat(20)}</speak>`).matchAll(/time="(\d+)ms"/g);
    expect([...times].reduce((sum, [, ms]) => sum + Number(ms), 0)).to.equal(60_000);
    expect(parseSsml(`<speak>a${"<break/>".repeat(100)}</speak>`).match(/"medium"/g)).to.have.length(60);
  });

  it("may be sixteen elements deep and no deeper", () => {
    const nested = (depth: number) => `<speak>${"<p>".repeat(depth - 1)}a${"</p>".repeat(depth - 1)}</speak>`;
    expect(parseSsml(nested(16))).to.equal(nested(16));
    expect(refusal(nested(17)).message).to.contain("16");
  });
});

describe("SSML is refused", () => {
  for (const [rule, text, words] of [
    ["audio, which makes an engine open a file", '<speak>a<audio src="/etc/passwd"/></speak>', "<audio>"],
    [
      "a lexicon, which makes an engine open an address",
      '<speak><lexicon uri="http://a/"/>b</speak>',
      "<lexicon>",
    ],
    ["an unknown element", "<speak><blink>a</blink></speak>", "<blink>"],
    ["an element of another namespace", '<speak><a:audio xmlns:a="urn:a"/>b</speak>', "<a:audio>"],
    [
      "an element named like a member of Object.prototype",
      "<speak><constructor>a</constructor></speak>",
      "<constructor>",
    ],
    ["a nested speak element", "<speak><speak>a</speak></speak>", "<speak>"],
    ["another root", "<p>a</p>", "<p>"],
    ["an unknown attribute", '<speak><p onload="a">b</p></speak>', "<p>"],
    ["a negative time", '<speak>a<break time="-1s"/></speak>', "time of <break>"],
    ["a time with a blank", '<speak>a<break time="0.5 s"/></speak>', "time of <break>"],
    [
      "Azure's background audio, which names an address",
      '<speak><mstts:backgroundaudio src="https://a/"/>a</speak>',
      "<mstts:backgroundaudio>",
    ],
    ["an unknown element of Azure", "<speak><mstts:x>a</mstts:x></speak>", "<mstts:x>"],
    [
      "a style that is no word",
      '<speak><mstts:express-as style="a&quot;b">a</mstts:express-as></speak>',
      "style",
    ],
    ["an unknown value", '<speak><say-as interpret-as="a b">1</say-as></speak>', "<say-as>"],
    ["a rate that is extremely slow", '<speak><prosody rate="1%">a</prosody></speak>', "<prosody>"],
    ["an engine's own phonemes", '<speak><phoneme alphabet="espeak" ph="a">b</phoneme></speak>', "<phoneme>"],
    [
      "a phoneme that ends its own notation",
      '<speak><phoneme alphabet="ipa" ph="a]] b">c</phoneme></speak>',
      "<phoneme>",
    ],
    [
      "a document type",
      '<!DOCTYPE speak [<!ENTITY a SYSTEM "file:///etc/passwd">]><speak>&a;</speak>',
      "DOCTYPE",
    ],
    ["an undefined entity", "<speak>&a;</speak>", "not well-formed"],
    ["an entity named like a member of Object.prototype", "<speak>&constructor;</speak>", "not well-formed"],
    ["an element that is not closed", "<speak><p>a</speak>", "not well-formed"],
    ["an unterminated root tag", "<speak", "not well-formed"],
    ["a second document", "<speak>a</speak><speak>b</speak>", "not well-formed"],
    ["text after the document", "<speak>a</speak>b", "not well-formed"],
    ["characters that XML forbids", "<speak>a&#0;</speak>", "not well-formed"],
    ["characters that only XML 1.1 allows", '<?xml version="1.1"?><speak>a&#1;</speak>', "not well-formed"],
    ["a lone surrogate", "<speak>\ud800</speak>", "surrogate"],
    ["a document without words", '<speak> \n<break time="1s"/></speak>', "nothing to speak"],
    [
      "a document whose only words are replaced by blanks",
      '<speak><sub alias=" ">a</sub></speak>',
      "nothing to speak",
    ],
  ] as const) {
    it(`if it contains ${rule}`, () => {
      const { problems } = refusal(text);
      expect(problems).to.have.length(1);
      expect(problems[0]?.path).to.deep.equal(["text"]);
      expect(problems[0]?.message).to.contain(words);
    });
  }

  it("with an error that names the location and does not repeat the text", () => {
    const { message } = refusal("<speak>\nmy secret <p class='secret'>secret</p></speak>");
    expect(message).to.contain("line 2");
    expect(message).not.to.contain("secret");
    expect(refusal(`<speak><${"x".repeat(500)}/>a</speak>`).message.length).to.be.below(100);
  });
});

describe("SSML validation of arbitrary text", () => {
  const pieces = fc.constantFrom(
    ...[
      "<speak>",
      "</speak>",
      "<p>",
      "</p>",
      "<break/>",
      '<break time="9s"/>',
      "<s xml:lang='de'>",
      "</s>",
      "<sub alias='a'>",
    ],
    ...[
      "</sub>",
      "<audio src='/etc/passwd'/>",
      "<![CDATA[<audio/>]]>",
      "<!-- a -->",
      "<?a b?>",
      "&lt;",
      "&amp;lt;",
      "&#13;",
    ],
    ...[
      "\r\n",
      "\u0085",
      '<prosody rate="50%" volume="+6dB">',
      "</prosody>",
      "<voice name='x'>",
      "</voice>",
      "]]>",
      '"',
      "word",
      "語",
    ],
    ...[
      '<phoneme alphabet="ipa" ph="&quot;a&gt;">',
      "</phoneme>",
      "<mark name='a'/>",
      "&#x2028;",
      "\ud83d\ude00",
      " ",
    ],
  );
  const markup = fc.constantFrom(
    ...[
      "p",
      "s",
      "emphasis",
      "voice name='../a'",
      "mstts:express-as style='sad'",
      "mstts:silence type='Leading' value='.5s'",
      "prosody rate='80%' pitch='+1st'",
      "say-as interpret-as='date'",
    ],
    ...[
      "sub alias='&lt;audio/&gt;'",
      "break time='4.5s'",
      "lang xml:lang='fr'",
      "speak",
      "audio src='a'",
      "mark",
    ],
  );
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      fc.constantFrom("a", "&amp;lt;b", "<![CDATA[<audio/>&]]>", "<!-- c -->", "\r\n", "&#13;", "<break/>"),
      fc
        .tuple(markup, fc.array(tie("tree"), { maxLength: 4 }))
        .map(([open, inner]) => `<${open}>${inner.join("")}</${open.split(" ")[0]}>`),
    ),
  }));
  const documents = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(pieces, { maxLength: 20 }).map((all) => `<speak>${all.join("")}</speak>`),
    fc.array(fc.oneof(pieces, fc.string({ maxLength: 5 })), { maxLength: 12 }).map((all) => all.join("")),
    fc.array(tree, { maxLength: 6 }).map((all) => `<speak>${all.join("")}</speak>`),
  );

  it("rejects it, or returns well-formed SSML with supported elements only, and is idempotent", () => {
    let accepted = 0;
    fc.assert(
      fc.property(documents, (text) => {
        const canonical = parsed(text);
        if (canonical === undefined) return;
        accepted++;
        expect(elementsOf(canonical).filter((name) => !known.includes(name))).to.deep.equal([]);
        expect(parseSsml(canonical)).to.equal(canonical);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).to.be.above(100);
  });

  it("is idempotent in every dialect, whose elements are no others", () => {
    fc.assert(
      fc.property(documents, (text) => {
        if (parsed(text) === undefined) return;
        const canonical = parseSsml(text, undefined, anyDialect);
        const added = elementsOf(canonical).filter((name) => !known.includes(name));
        expect(
          added.filter((name) => !/^(?:voice|mstts:express-as|mstts:silence)$/.test(name)),
        ).to.deep.equal([]);
        expect(parseSsml(canonical, undefined, anyDialect)).to.equal(canonical);
        expect(parseSsml(canonical)).to.equal(parseSsml(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps the words of escaped plain text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (words) => {
        const escaped = words.replace(/[&<>]/g, (character) => `&#${character.codePointAt(0)};`);
        const canonical = parsed(`<speak>a${escaped}</speak>`);
        if (canonical === undefined) return;
        const read = canonical.slice("<speak>a".length, -"</speak>".length);
        expect(read.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")).to.equal(
          words.replaceAll("\r", "\n"),
        );
      }),
    );
  });
});

const parsed = (text: string): string | undefined => {
  try {
    return parseSsml(text);
  } catch (error) {
    expect(error).to.be.instanceOf(Invalid);
    return undefined;
  }
};

const elementsOf = (xml: string): string[] => {
  const names: string[] = [];
  const parser = new SaxesParser({ xmlns: false });
  parser.on("opentag", ({ name }) => names.push(name));
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
  return names;
};
