import { expect } from "chai";
import fc from "fast-check";
import {
  completeConfig,
  type StoredConfig,
  storedConfig,
} from "../../../src/domain/accounts/website-config.ts";
import type { Invalid } from "../../../src/domain/errors.ts";
import { parse } from "../../../src/domain/validation.ts";

const quiet = { enabled: false };
const silent = { enabled: false, text: null };
const defaults = {
  features: {
    welcomeMessage: silent,
    speakSelectedText: quiet,
    speakLinks: quiet,
    speakInactivity: silent,
    speakEndPage: silent,
    exitIntent: silent,
    accessibilityNavigation: quiet,
    paragraphNavigation: quiet,
    webPlayer: {
      enabled: false,
      selector: "article",
      paragraphSelector: "p, h2, h3, li",
      position: "before",
      theme: "neutral",
      controls: {
        progress: true,
        time: true,
        skip: true,
        speed: true,
        link: true,
        download: true,
        brand: { icon: true, poweredBy: true },
      },
      navigation: { paragraphHighlight: true, paragraphClick: true },
      layout: { mode: "shrink", display: "block" },
      miniPlayer: { enabled: true, position: "bottom-left", animation: "slide" },
      labels: {},
      sanitize: { enabled: true, exclude: [] },
    },
    welcomeMessageOnce: false,
  },
  voice: { name: "UK English Female", pitch: 1, rate: 1, volume: 1 },
  analytics: { enabled: false },
  sdkVersion: "v1",
};

const complete = (stored: unknown) => completeConfig(parse(storedConfig, stored));
const player = (webPlayer: unknown) => ({ features: { webPlayer } });
const completePlayer = (webPlayer: unknown) => complete(player(webPlayer)).features.webPlayer;

const pathsOf = (stored: unknown) => {
  try {
    parse(storedConfig, stored);
  } catch (error) {
    return (error as Invalid).problems.map(({ path }) => path.join("."));
  }
  return expect.fail(`accepted ${JSON.stringify(stored)}`);
};
const playerPathsOf = (webPlayer: unknown) =>
  pathsOf(player(webPlayer)).map((path) => path.replace(/^features\.webPlayer\.?/, ""));

describe("a website's configuration", () => {
  it("consists of the defaults if nothing is stored", () => {
    expect(complete({})).to.deep.equal(defaults);
  });

  it("uses the default of every omitted member at any depth", () => {
    const stored = { features: { webPlayer: { controls: { brand: { icon: false } } } }, voice: { rate: 2 } };
    const expected = structuredClone(defaults);
    expected.features.webPlayer.controls.brand.icon = false;
    expected.voice.rate = 2;
    expect(complete(stored)).to.deep.equal(expected);
  });

  it("is stored without the defaults", () => {
    const stored = { features: { speakLinks: {} }, analytics: { enabled: true } };
    expect(parse(storedConfig, stored)).to.deep.equal(stored);
  });

  it("returns a new copy of the defaults on each call", () => {
    const first = complete({});
    first.features.webPlayer.sanitize.exclude.push(".ad");
    expect(complete({})).to.deep.equal(defaults);
  });

  it("refuses unknown members, each with its path", () => {
    expect(pathsOf({ colour: "red" })).to.deep.equal(["colour"]);
    expect(pathsOf(JSON.parse('{"__proto__": {"enabled": true}}'))).to.deep.equal(["__proto__"]);
    expect(pathsOf({ features: { speakLinks: { text: "x", enabled: true }, blink: 1 } })).to.deep.equal([
      "features.speakLinks.text",
      "features.blink",
    ]);
    expect(
      playerPathsOf({ controls: { brand: { logo: true } }, layout: { mode: "fill", gap: 1 } }),
    ).to.deep.equal(["controls.brand.logo", "layout.gap"]);
  });

  it("must be an object", () => {
    for (const wrong of [undefined, null, [], "v2", 1]) expect(pathsOf(wrong)).to.deep.equal([""]);
  });

  it("allows null for texts", () => {
    for (const feature of ["welcomeMessage", "speakInactivity", "speakEndPage", "exitIntent"]) {
      expect(
        complete({ features: { [feature]: { enabled: true, text: "Hello" } } }).features,
      ).to.deep.include({
        [feature]: { enabled: true, text: "Hello" },
      });
      expect(complete({ features: { [feature]: { text: null } } })).to.deep.equal(defaults);
      expect(pathsOf({ features: { [feature]: { text: 1 } } })).to.deep.equal([`features.${feature}.text`]);
    }
  });

  it("requires booleans for switches", () => {
    for (const wrong of ["true", 1, null]) {
      expect(pathsOf({ analytics: { enabled: wrong } })).to.deep.equal(["analytics.enabled"]);
      expect(pathsOf({ features: { welcomeMessageOnce: wrong } })).to.deep.equal([
        "features.welcomeMessageOnce",
      ]);
    }
  });

  it("requires v1 or v2 as sdkVersion", () => {
    expect(complete({ sdkVersion: "v2" })).to.deep.equal({ ...defaults, sdkVersion: "v2" });
    for (const wrong of ["v3", "", 2, null])
      expect(pathsOf({ sdkVersion: wrong })).to.deep.equal(["sdkVersion"]);
  });

  it("requires a pitch and rate from 0 to 2 and a volume from 0 to 1, inclusive", () => {
    for (const [parameter, most] of [
      ["pitch", 2],
      ["rate", 2],
      ["volume", 1],
    ] as const) {
      for (const fine of [0, 0.5, most]) {
        expect(complete({ voice: { [parameter]: fine } }).voice[parameter]).to.equal(fine);
        expect(completePlayer({ [parameter]: fine })[parameter]).to.equal(fine);
      }
      for (const wrong of [-0.1, most + 0.1, Number.NaN, Number.POSITIVE_INFINITY, "1", null]) {
        expect(pathsOf({ voice: { [parameter]: wrong } })).to.deep.equal([`voice.${parameter}`]);
        expect(playerPathsOf({ [parameter]: wrong })).to.deep.equal([parameter]);
      }
    }
  });

  it("does not change when it is completed twice", () => {
    fc.assert(
      fc.property(anyStoredConfig, (stored) => {
        const once = complete(stored);
        expect(complete(once)).to.deep.equal(once);
        expect(JSON.parse(JSON.stringify(once))).to.deep.equal(once);
      }),
    );
  });

  it("contains every stored member when it is completed", () => {
    fc.assert(
      fc.property(anyStoredConfig, (stored) => {
        expect(contains(complete(stored), stored)).to.equal(true);
      }),
    );
  });
});

describe("the web player", () => {
  it("has the position inline, before, after or at a target", () => {
    for (const position of ["inline", "before", "after"]) {
      expect(completePlayer({ position }).position).to.equal(position);
    }
    for (const at of ["inside", "before", "after"]) {
      expect(completePlayer({ position: { target: "#player", at } }).position).to.deep.equal({
        target: "#player",
        at,
      });
    }
  });

  it("is placed inside its target by default", () => {
    expect(completePlayer({ position: { target: "#player" } }).position).to.deep.equal({
      target: "#player",
      at: "inside",
    });
  });

  it("refuses other positions", () => {
    expect(playerPathsOf({ position: "under" })).to.deep.equal(["position"]);
    expect(playerPathsOf({ position: null })).to.deep.equal(["position"]);
    expect(playerPathsOf({ position: {} })).to.deep.equal(["position.target"]);
    expect(playerPathsOf({ position: { target: "#p", at: "inline" } })).to.deep.equal(["position.at"]);
    expect(playerPathsOf({ position: { target: "#p", to: 1 } })).to.deep.equal(["position.to"]);
  });

  it("has a named theme or a theme of tokens", () => {
    for (const theme of ["neutral", "brand", {}, { bg: "#fff", accentSoft: "rgb(0 0 0 / 10%)" }]) {
      expect(completePlayer({ theme }).theme).to.deep.equal(theme);
    }
    const names = ["bg", "fg", "muted", "accent", "accentSoft", "hover", "border", "track", "fill"];
    const whole = Object.fromEntries(names.map((name) => [name, "red"]));
    expect(completePlayer({ theme: whole }).theme).to.deep.equal(whole);
    expect(playerPathsOf({ theme: "dark" })).to.deep.equal(["theme"]);
    expect(playerPathsOf({ theme: { bg: 1 } })).to.deep.equal(["theme.bg"]);
    expect(playerPathsOf({ theme: { shadow: "x" } })).to.deep.equal(["theme.shadow"]);
  });

  it("has the layout shrink or fill, inline or block", () => {
    expect(completePlayer({ layout: { mode: "fill" } }).layout).to.deep.equal({
      mode: "fill",
      display: "block",
    });
    expect(completePlayer({ layout: { display: "inline" } }).layout).to.deep.equal({
      mode: "shrink",
      display: "inline",
    });
    expect(playerPathsOf({ layout: { mode: "grow", display: "grid" } })).to.deep.equal([
      "layout.mode",
      "layout.display",
    ]);
  });

  it("accepts a sanitizer with excluded selectors", () => {
    expect(completePlayer({ sanitize: { exclude: [".ad", "aside"] } }).sanitize).to.deep.equal({
      enabled: true,
      exclude: [".ad", "aside"],
    });
    expect(playerPathsOf({ sanitize: { exclude: [".ad", 1] } })).to.deep.equal(["sanitize.exclude.1"]);
    expect(playerPathsOf({ sanitize: { exclude: ".ad" } })).to.deep.equal(["sanitize.exclude"]);
  });

  it("has a voice, pitch, rate or volume only if they are set", () => {
    expect(completePlayer({})).to.not.have.any.keys("voice", "pitch", "rate", "volume");
  });
});

describe("the mini player", () => {
  const at = (position: unknown) => completePlayer({ miniPlayer: { position } }).miniPlayer.position;
  const wrong = (position: unknown) => playerPathsOf({ miniPlayer: { position } });

  it("can be positioned in a corner", () => {
    for (const corner of ["top-left", "top-right", "bottom-left", "bottom-right"]) {
      expect(at(corner)).to.equal(corner);
    }
    expect(wrong("center")).to.deep.equal(["miniPlayer.position"]);
  });

  it("can be positioned at an offset from one or two sides", () => {
    for (const offset of [{ top: "1rem" }, { left: "0" }, { bottom: "8px", right: "5%" }]) {
      expect(at(offset)).to.deep.equal(offset);
    }
  });

  it("refuses a position without a side", () => {
    expect(wrong({})).to.deep.equal(["miniPlayer.position"]);
  });

  it("refuses a position with opposite sides", () => {
    expect(wrong({ top: "0", bottom: "0" })).to.deep.equal(["miniPlayer.position"]);
    expect(wrong({ left: "0", right: "0" })).to.deep.equal(["miniPlayer.position"]);
    expect(wrong({ top: "0", bottom: "0", left: "0", right: "0" })).to.have.length(2);
  });

  it("requires CSS lengths as offsets", () => {
    const lengths = [
      "0",
      "0.0",
      "16px",
      "1.5em",
      ".5rem",
      "-4px",
      "+4px",
      "10%",
      "50vh",
      "1dvw",
      "3cqmin",
      "1Q",
    ];
    const functions = ["calc(1rem + env(safe-area-inset-bottom))", "max(8px, 2vw)", "var(--gap)"];
    for (const top of [...lengths, ...functions]) expect(at({ top }), top).to.deep.equal({ top });
    const others = [
      "",
      "16",
      "px",
      "16 px",
      "1e",
      "auto",
      "red",
      "16px; color: red",
      "calc(1px",
      "calc()",
      "url(x)",
    ];
    for (const top of [...others, "calc(1px) + (2px)", "calc(1px))(", 16, null]) {
      expect(wrong({ top }), String(top)).to.deep.equal(["miniPlayer.position.top"]);
    }
  });

  it("has the animation none, fade, slide or pop", () => {
    for (const animation of ["none", "fade", "slide", "pop"]) {
      expect(completePlayer({ miniPlayer: { animation } }).miniPlayer.animation).to.equal(animation);
    }
    expect(playerPathsOf({ miniPlayer: { animation: "spin" } })).to.deep.equal(["miniPlayer.animation"]);
  });
});

describe("the player's labels", () => {
  const wrong = (labels: unknown) => playerPathsOf({ labels });

  it("are given by language tag, each of 1 to 120 characters", () => {
    const labels = { fr: { listen: "Lire" }, "zh-Hant-TW": {}, "sr-Latn": { close: "x".repeat(120) } };
    expect(completePlayer({ labels }).labels).to.deep.equal(labels);
    for (const listen of ["", "x".repeat(121), 1, null])
      expect(wrong({ fr: { listen } })).to.deep.equal(["labels.fr.listen"]);
    expect(wrong({ fr: { lsiten: "Lire" } })).to.deep.equal(["labels.fr.lsiten"]);
  });

  it("are refused for what is no language tag, and for more than 20 languages", () => {
    for (const tag of ["french!", "f", "", "fr_CA"])
      expect(wrong({ [tag]: {} })).to.deep.equal([`labels.${tag}`]);
    const tags = Array.from({ length: 21 }, (_, index) => [`en-${index}`, {}]);
    expect(wrong(Object.fromEntries(tags))).to.deep.equal(["labels"]);
  });
});

describe("the player's voice", () => {
  const wrong = (voice: unknown) => playerPathsOf({ voice });

  it("is chosen by name, by pattern or by query", () => {
    const query = { name: "x", lang: "en-GB", gender: "female", isByok: false, provider: "google" };
    for (const voice of ["UK English Male", { regex: "^UK" }, { regex: "^uk", flags: "i" }, query, {}]) {
      expect(completePlayer({ voice }).voice).to.deep.equal(voice);
    }
  });

  it("refuses a pattern that does not compile", () => {
    expect(wrong({ regex: "(" })).to.deep.equal(["voice.regex"]);
    expect(wrong({ regex: "a", flags: "zz" })).to.deep.equal(["voice.flags"]);
    expect(wrong({ regex: "(", flags: "zz" })).to.deep.equal(["voice.flags"]);
    expect(wrong({ regex: "\\p{Nonsense}", flags: "u" })).to.deep.equal(["voice.regex"]);
  });

  it("accepts four spellings of a gender", () => {
    for (const gender of ["f", "m", "male", "female"]) {
      expect(completePlayer({ voice: { gender } }).voice).to.deep.equal({ gender });
    }
    expect(wrong({ gender: "x" })).to.deep.equal(["voice.gender"]);
  });

  it("refuses other values", () => {
    for (const voice of [1, null, [], ""]) expect(wrong(voice)).to.deep.equal(["voice"]);
    expect(wrong({ nmae: "x" })).to.deep.equal(["voice.nmae"]);
    expect(wrong({ regex: 1 })).to.deep.equal(["voice.regex"]);
  });
});

/** True if the whole has every member of the part, with equal values. */
const contains = (whole: unknown, part: unknown): boolean => {
  if (typeof part !== "object" || part === null || Array.isArray(part)) {
    return JSON.stringify(whole) === JSON.stringify(part);
  }
  return Object.entries(part).every(([key, value]) =>
    contains((whole as Record<string, unknown>)[key], value),
  );
};

const maybe = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });
const toggle = maybe({ enabled: fc.boolean() });
const spoken = maybe({ enabled: fc.boolean(), text: fc.option(fc.string()) });
const name = fc.string({ minLength: 1, maxLength: 50 });
const upTo = (max: number) => fc.double({ min: 0, max, noNaN: true }).map((value) => Math.abs(value));
const length = fc
  .tuple(fc.integer({ min: -99, max: 99 }), fc.constantFrom("px", "rem", "%"))
  .map(([n, u]) => n + u);
const sides = fc
  .tuple(
    fc.constantFrom("top", "bottom", undefined),
    fc.constantFrom("left", "right", undefined),
    length,
    length,
  )
  .filter(([vertical, horizontal]) => vertical !== undefined || horizontal !== undefined)
  .map(([vertical, horizontal, a, b]) => ({
    ...(vertical && { [vertical]: a }),
    ...(horizontal && { [horizontal]: b }),
  }));
const webPlayer = maybe({
  enabled: fc.boolean(),
  selector: name,
  paragraphSelector: name,
  position: fc.oneof(
    fc.constantFrom("inline", "before", "after"),
    fc.record(
      { target: name, at: fc.constantFrom("inside", "before", "after") },
      { requiredKeys: ["target"] },
    ),
  ),
  theme: fc.oneof(fc.constantFrom("neutral", "brand"), maybe({ bg: name, accentSoft: name, fill: name })),
  controls: maybe({ progress: fc.boolean(), brand: maybe({ icon: fc.boolean() }) }),
  layout: maybe({ mode: fc.constantFrom("shrink", "fill") }),
  miniPlayer: maybe({
    enabled: fc.boolean(),
    position: fc.oneof(fc.constantFrom("top-left", "bottom-right"), sides),
  }),
  labels: fc.dictionary(fc.constantFrom("en", "fr", "pt-BR"), maybe({ listen: name, close: name })),
  voice: fc.oneof(
    name,
    fc.constant({ regex: "^UK", flags: "iu" }),
    maybe({ lang: name, isByok: fc.boolean() }),
  ),
  sanitize: maybe({ enabled: fc.boolean(), exclude: fc.array(name, { maxLength: 5 }) }),
  pitch: upTo(2),
  volume: upTo(1),
});
const anyStoredConfig = maybe({
  features: maybe({
    welcomeMessage: spoken,
    speakLinks: toggle,
    exitIntent: spoken,
    webPlayer,
    welcomeMessageOnce: fc.boolean(),
  }),
  voice: maybe({ name, pitch: upTo(2), rate: upTo(2), volume: upTo(1) }),
  analytics: toggle,
  sdkVersion: fc.constantFrom("v1", "v2"),
}) as fc.Arbitrary<StoredConfig>;
