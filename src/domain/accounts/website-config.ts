import { z } from "zod";
import { textFormats } from "../synthesis/speech.ts";

/*
 * The configuration of a website's player. The stored configuration is partial (the schema's
 * input), the response is complete (its output). A stored part is validated again whenever it is
 * completed, so a rule may be relaxed, but never tightened.
 */

/** Bounds that keep a configuration small. No page needs more. */
const words = z.string().max(4_000);
const selector = z.string().min(1).max(1_000);
const short = z.string().max(200);

const on = z.boolean().default(true);
const off = z.boolean().default(false);
const zeroToTwo = z.number().min(0).max(2);
const zeroToOne = z.number().min(0).max(1);

const toggle = z.strictObject({ enabled: off }).prefault({});
const spoken = z.strictObject({ enabled: off, text: words.nullable().default(null) }).prefault({});

const position = z.union(
  [
    z.enum(["inline", "before", "after"]),
    z.strictObject({ target: selector, at: z.enum(["inside", "before", "after"]).default("inside") }),
  ],
  { error: "Expected inline, before, after, or an object with a target." },
);

const theme = z.union(
  [
    z.enum(["neutral", "brand"]),
    z.strictObject({
      bg: short.optional(),
      fg: short.optional(),
      muted: short.optional(),
      accent: short.optional(),
      accentSoft: short.optional(),
      hover: short.optional(),
      border: short.optional(),
      track: short.optional(),
      fill: short.optional(),
    }),
  ],
  { error: "Expected neutral, brand, or an object of theme tokens." },
);

const controls = z
  .strictObject({
    progress: on,
    time: on,
    skip: on,
    speed: on,
    link: on,
    download: on,
    brand: z.strictObject({ icon: on, poweredBy: on }).prefault({}),
  })
  .prefault({});

const units =
  "cap|ch|em|ex|ic|lh|rcap|rch|rem|rex|ric|rlh|[sld]?v(?:w|h|i|b|min|max)|cq(?:w|h|i|b|min|max)|px|cm|mm|q|in|pt|pc|%";
const dimension = new RegExp(String.raw`^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:${units})|[+-]?0+(?:\.0*)?)$`, "i");
const mathFunction = /^(?:calc|min|max|clamp|env|var)\([\w\s.,%+*/()-]+\)$/i;

const isCssLength = (text: string): boolean =>
  dimension.test(text) || (mathFunction.test(text) && closesAtItsEnd(text));

/** True if the first bracket is closed by the last character. */
const closesAtItsEnd = (text: string): boolean => {
  let depth = 0;
  for (const [index, char] of [...text].entries()) {
    if (char === "(") depth++;
    if (char === ")" && --depth === 0) return index === text.length - 1;
  }
  return false;
};

const side = short.refine(isCssLength, "Expected a CSS length.").optional();

const offset = z
  .strictObject({ top: side, right: side, bottom: side, left: side })
  .refine((sides) => Object.values(sides).some((length) => length !== undefined), {
    error: "At least one of top, right, bottom and left is required.",
  })
  .refine(({ top, bottom }) => top === undefined || bottom === undefined, {
    error: "top and bottom exclude each other.",
  })
  .refine(({ left, right }) => left === undefined || right === undefined, {
    error: "left and right exclude each other.",
  });

const miniPlayer = z
  .strictObject({
    enabled: on,
    position: z
      .union([z.enum(["top-left", "top-right", "bottom-left", "bottom-right"]), offset], {
        error: "Expected top-left, top-right, bottom-left, bottom-right, or an object of offsets.",
      })
      .default("bottom-left"),
    animation: z.enum(["none", "fade", "slide", "pop"]).default("slide"),
    zIndex: z.int().min(0).max(2_147_483_647).optional(),
  })
  .prefault({});

const compiles = (regex: string, flags?: string): boolean => {
  try {
    return new RegExp(regex, flags) instanceof RegExp;
  } catch {
    return false;
  }
};

const voicePattern = z
  .strictObject({ regex: short, flags: short.optional() })
  .refine(({ flags }) => compiles("", flags), {
    path: ["flags"],
    error: "Not flags of a regular expression.",
  })
  .refine(({ regex, flags }) => !compiles("", flags) || compiles(regex, flags), {
    path: ["regex"],
    error: "Not a regular expression.",
  });

const voiceQuery = z.strictObject({
  name: short.optional(),
  lang: short.optional(),
  gender: z.enum(["f", "m", "male", "female"]).optional(),
  isByok: z.boolean().optional(),
  provider: short.optional(),
});

const label = z.string().min(1).max(120).optional();

const languageTag = z.string().regex(/^[a-z]{2,3}(-[a-z0-9]{1,8}){0,4}$/i, "Expected a language tag.");

const labels = z
  .record(
    languageTag,
    z.strictObject({
      article: label,
      listen: label,
      pause: label,
      resume: label,
      tryAgain: label,
      previous: label,
      next: label,
      position: label,
      paragraph: label,
      time: label,
      speed: label,
      download: label,
      copyLink: label,
      linkCopied: label,
      poweredBy: label,
      waiting: label,
      failed: label,
      unavailable: label,
      miniPlayer: label,
      show: label,
      close: label,
      allowSpeech: label,
    }),
  )
  .refine((byLanguage) => Object.keys(byLanguage).length <= 20, "At most 20 languages.")
  .default({})
  .meta({
    description: "Labels by language tag, which replace the player's own. `{n}` and `{count}` are numbers.",
  });

const voiceSelector = z.union([short.min(1), voicePattern, voiceQuery], {
  error: "Expected a voice's name, an object with a regex, or a voice query.",
});

const webPlayer = z
  .strictObject({
    enabled: off,
    selector: selector.default("article"),
    paragraphSelector: selector.default("p, h2, h3, li").meta({
      description:
        "The elements that are read. For exactly the default, the player reads further elements too: h1 to h6, blockquote, figcaption, dt, dd and caption.",
    }),
    position: position.default("before"),
    theme: theme.default("neutral"),
    controls,
    navigation: z.strictObject({ paragraphHighlight: on, paragraphClick: on }).prefault({}),
    layout: z
      .strictObject({
        mode: z.enum(["shrink", "fill"]).default("shrink"),
        display: z.enum(["inline", "block"]).default("block"),
      })
      .prefault({}),
    miniPlayer,
    labels,
    voice: voiceSelector.optional(),
    sanitize: z.strictObject({ enabled: on, exclude: z.array(selector).max(100).default([]) }).prefault({}),
    pitch: zeroToTwo.optional(),
    rate: zeroToTwo.optional(),
    volume: zeroToOne.optional(),
  })
  .prefault({})
  .meta({ id: "WebPlayerFeaturePart", outputId: "WebPlayerFeature" });

const features = z
  .strictObject({
    welcomeMessage: spoken,
    speakSelectedText: toggle,
    speakLinks: toggle,
    speakInactivity: spoken,
    speakEndPage: spoken,
    exitIntent: spoken,
    accessibilityNavigation: toggle,
    paragraphNavigation: toggle,
    webPlayer,
    welcomeMessageOnce: off,
  })
  .prefault({})
  .meta({ id: "WebsiteFeaturesPart", outputId: "WebsiteFeatures" });

const voice = z
  .strictObject({
    name: short.min(1).default("UK English Female"),
    pitch: zeroToTwo.default(1),
    rate: zeroToTwo.default(1),
    volume: zeroToOne.default(1),
  })
  .prefault({})
  .meta({ id: "WebsiteVoicePart", outputId: "WebsiteVoice" });

/** Accepts any part of a configuration, and adds the defaults. */
export const websiteConfig = z
  .strictObject({
    features,
    voice,
    analytics: toggle,
    sdkVersion: z.enum(["v1", "v2"]).default("v1"),
  })
  .meta({ id: "WebsiteConfig" });

/**
 * The members that an operator sets: a part of the player's configuration, and some that pages do
 * not need.
 */
export const websiteSettings = websiteConfig
  .extend({
    textFormat: z.enum(textFormats).optional().meta({
      description: "The `text_format` of requests to the APIs of OpenAI and ElevenLabs that name none.",
    }),
  })
  .meta({ id: "WebsiteConfigPart" });

/** The stored part of a website's settings. */
export type StoredConfig = z.input<typeof websiteSettings>;
export type WebsiteConfig = z.output<typeof websiteConfig>;

/** Validates a partial configuration without adding defaults. They are added when it is read. */
export const storedConfig = z.custom<StoredConfig>().superRefine((value, context) => {
  const { error } = websiteSettings.safeParse(value);
  for (const issue of error?.issues ?? []) context.addIssue({ ...issue });
});

/** The complete configuration of the player: the stored part with defaults. */
export const completeConfig = ({ textFormat: _, ...stored }: StoredConfig): WebsiteConfig =>
  websiteConfig.parse(stored);
