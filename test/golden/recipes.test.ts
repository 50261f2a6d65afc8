import { createSecretKey, type KeyObject } from "node:crypto";
import { expect } from "chai";
import { createByokVoices } from "../../src/application/catalog/byok-voices.ts";
import { createWebsiteCatalogs } from "../../src/application/catalog/website-catalog.ts";
import { createWebsiteLexicons } from "../../src/application/lexicons/website-lexicons.ts";
import { createPlanner, type FindEngine, type Planner } from "../../src/application/synthesis/planner.ts";
import { createScheduler } from "../../src/async/scheduler/scheduler.ts";
import type { Rendition } from "../../src/audio/pipeline/audio.ts";
import { legacyName } from "../../src/audio/pipeline/legacy-names.ts";
import { composeFreeEngines, composeProviders } from "../../src/bootstrap/speech/providers.ts";
import type { Credentials } from "../../src/domain/accounts/credentials.ts";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import { isByok } from "../../src/domain/synthesis/byok-providers.ts";
import type { AudioFormat } from "../../src/domain/synthesis/formats.ts";
import { configuredVoices } from "../../src/engines/configured-voices.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { readingVoice } from "../../src/engines/local/espeak.ts";
import { voicesOfServers } from "../../src/engines/self-hosted/engine.ts";
import { requestFromBody, synthesizeRequest } from "../../src/http/routes/synthesis/request.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import type { ToolJob } from "../../src/subprocess/jobs.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { noTelemetry } from "../../src/telemetry/telemetry.ts";
import { expectGolden } from "./golden.ts";

const ssml = '<speak>One <break time="200ms"/> two</speak>';
const plain = { text: "The train leaves at nine.", lang: "en-GB" };
const own = "with-credentials";
const replacing = "with-lexicons";

/** Representative requests, each as the body of a POST. */
const requests: readonly (readonly [body: object, website?: string])[] = [
  [plain],
  [{ ...plain, lang: "en-US" }],
  [{ ...plain, lang: "de-DE", gender: "male" }],
  [{ ...plain, lang: "hy-AM" }],
  [{ ...plain, lang: "hy-AM", format: "mp3" }],
  [{ ...plain, lang: "xx-XX" }],
  [{ ...plain, voice: "UK English Female" }],
  [{ ...plain, voice: "US English Male" }],
  [{ ...plain, voice: "Unknown" }],
  [{ ...plain, engine: "g1" }],
  [{ ...plain, engine: "g2", gender: "f" }],
  [{ ...plain, engine: "g3" }],
  [{ ...plain, engine: "g5", lang: "eo" }],
  [{ ...plain, engine: "gwn" }],
  [{ ...plain, name: "g2-en-GB-male" }],
  [{ ...plain, name: "flite:slt" }],
  [{ ...plain, format: "mp3" }],
  [{ ...plain, format: "ogg" }],
  [{ ...plain, format: "wav" }],
  [{ ...plain, engine: "g5", lang: "cy-GB", format: "ogg" }],
  [{ ...plain, pitch: 0, rate: 2, volume: 0.5 }],
  [{ ...plain, pitch: 1.23456, rate: 0.3333, volume: 0 }],
  [{ ...plain, name: "flite:awb", pitch: 1.5, rate: 1.5 }],
  [{ ...plain, text: "Hello 世界", voice: "US English Female" }],
  [{ ...plain, text: "今日は", lang: "ja-JP" }],
  [{ ...plain, text: "Hello 今日は", voice: "US English Female" }],
  [{ ...plain, text: "<speak>Hello 世界</speak>", voice: "US English Female" }],
  [{ ...plain, text: '<speak>One <lang xml:lang="fr">deux</lang></speak>', voice: "US English Female" }],
  [{ ...plain, text: '<speak>One <voice name="flite:slt">two</voice></speak>' }],
  [{ ...plain, text: '<speak>One <voice name="alloy">two</voice></speak>', voice: "en-US-JennyNeural" }, own],
  [{ ...plain, text: "Cafe\u0301" }],
  [{ ...plain, text: "Caf\u00e9" }],
  [{ ...plain, text: ssml }],
  [{ ...plain, lang: "en-US", text: ssml }],
  [{ ...plain, text: "<speak>not closed" }],
  [{ ...plain, text: "<speak>not closed", text_format: "plain" }],
  [{ ...plain, text: "A *fine* day", text_format: "markdown" }],
  [{ ...plain, text: "A *fine* day", voice: "en-US-Neural2-C", text_format: "markdown" }, own],
  [{ ...plain, text: ssml, voice: "en-US-Neural2-C", text_format: "plain" }, own],
  [{ ...plain, name: "af_bella" }],
  [{ ...plain, name: "af_bella", rate: 0.5, text: ssml }],
  [{ ...plain, voice: "en-US-Neural2-C" }],
  [{ ...plain }, own],
  [{ ...plain, voice: "en-US-Neural2-C" }, own],
  [{ ...plain, voice: "en-US-Neural2-C", text: ssml, format: "ogg", pitch: 1.5 }, own],
  [{ ...plain, voice: "en-US-Neural2-C", format: "wav" }, own],
  [{ ...plain, engine: "gwn", lang: "en-US" }, own],
  [{ ...plain, voice: "en-US-Chirp3-HD-Kore", rate: 0.5 }, own],
  [{ ...plain, voice: "en-US-JennyNeural", rate: 0.5, format: "wav" }, own],
  [{ ...plain, voice: "en-US-JennyNeural", text: ssml, format: "ogg" }, own],
  [{ ...plain, voice: "en-US-Ava:DragonHDLatestNeural", pitch: 0.5 }, own],
  [{ ...plain, voice: "alloy", rate: 1.5, pitch: 1.5 }, own],
  [{ ...plain, voice: "alloy", format: "wav" }, own],
  [{ ...plain, voice: "alloy", format: "ogg" }, own],
  [{ ...plain, voice: "alloy", text: ssml }, own],
  [{ ...plain, engine: "oai", lang: "fr-FR" }, own],
  [{ ...plain }, replacing],
  [{ ...plain, text: "No rule applies." }, replacing],
  [{ ...plain, text: "<speak>The train <emphasis>nine</emphasis></speak>" }, replacing],
  [{ ...plain, voice: "en-US-JennyNeural", format: "ogg" }, replacing],
  [{ ...plain, voice: "alloy" }, replacing],
];

const at = "2026-10-03T00:00:00.000Z";
const encrypted = { ciphertext: "v1.AAAA", keyId: "mk-1", setAt: at };
const credentials: Credentials = {
  settings: 3,
  byEngine: {
    gwn: {
      ...{ ...encrypted, provider: "google", revision: 1 },
      voices: [
        { name: "en-US-Neural2-C", lang: "en-US", gender: "f" },
        { name: "en-US-Chirp3-HD-Kore", lang: "en-US", gender: "f" },
      ],
    },
    msv: {
      ...{ ...encrypted, provider: "azure", revision: 2 },
      voices: [
        { name: "en-US-JennyNeural", lang: "en-US", gender: "f" },
        { name: "en-US-Ava:DragonHDLatestNeural", lang: "en-US", gender: "f" },
      ],
    },
    oai: { ...encrypted, provider: "openai", revision: 3, voices: [{ name: "alloy", gender: "f" }] },
  },
};

const lexicon = {
  version: 1,
  digest: "",
  setAt: at,
  lang: "en",
  rules: [
    { grapheme: "train", alias: "railway train" },
    { grapheme: "nine", phoneme: "naɪn", alphabet: "ipa" as const, alias: "9" },
  ],
};

interface Versions {
  readonly "espeak-ng": string;
  readonly flite: string;
  readonly encoding: (format: AudioFormat) => string;
}
const versions: Versions = {
  "espeak-ng": "1.2.3",
  flite: "4.5.6",
  encoding: (format) => `ffmpeg 7.8.9; ${format} 1`,
};

/**
 * A host whose tools have these versions and every voice of the seed: recipes do not depend on this
 * machine.
 */
const hostWith = (versions: Versions) =>
  ({
    versions,
    run: async function* ({ args }: Pick<ToolJob, "args">) {
      const names = releaseSeed().systemVoices.map(({ voiceName = "" }) =>
        readingVoice(voiceName.replace("espeak:", "")),
      );
      const files = names.map((name) =>
        args[0] === "--voices" ? name.replace(/\+.*/, "") : `!v/${name.replace(/.*\+/, "")}`,
      );
      yield Buffer.from(["header", ...new Set(files)].map((file) => `5 en --/F name ${file}\n`).join(""));
    },
  }) as unknown as SubprocessHost;

/** ICU's version is that of Node. */
const withoutIcu = (engine: Engine): Engine => ({
  ...engine,
  version: (voice) => engine.version(voice).replace(/icu .*/, "icu"),
});

const openSynthesis = async ({
  changed = {},
  namingKey = createSecretKey(Buffer.alloc(32, 1)),
  sharesAudio = true,
}: {
  changed?: Partial<Versions>;
  namingKey?: KeyObject;
  sharesAudio?: boolean;
} = {}) => {
  const used = { ...versions, ...changed };
  const settings = readSettings({
    ENGINE_G2: "openai:http://127.0.0.1:1/v1?model=kokoro&voices=af_bella@en-GB:f",
  });
  const scheduler = createScheduler();
  const local = (await localEngines({ host: hostWith(used) })).map(withoutIcu);
  const { engines } = composeFreeEngines(settings, local, noTelemetry, scheduler);
  const providers = composeProviders(settings, noTelemetry, scheduler);
  const accounts: Readonly<Record<string, Engine | undefined>> = {
    gwn: providers.gwn?.open({ apiKey: "k" }).engine,
    msv: providers.msv?.open({ subscriptionKey: "k", region: "westeurope" }).engine,
    oai: providers.oai?.open({ apiKey: "k" }).engine,
  };
  const findEngine: FindEngine = (code, websiteId) => {
    if (!isByok(code)) return engines.get(code);
    return websiteId === own || websiteId === replacing ? accounts[code] : undefined;
  };
  const { voices, systemVoices } = releaseSeed();
  const seeded = { voices: [...voices], systemVoices: [...systemVoices] };
  const catalog = { revision: 1, updatedAt: at, ...seeded, chosen: null };
  const catalogOf = createWebsiteCatalogs({
    catalog: new Map([["catalog", catalog]]),
    byokVoices: createByokVoices(
      new Map([own, replacing].map((website) => [`credentials-${website}`, credentials])),
    ),
    configuredVoices: configuredVoices(voicesOfServers(settings.selfHosted)),
  });
  const lexicons = createWebsiteLexicons(
    new Map([[`lexicons-${replacing}`, { versions: 1, byName: { common: lexicon } }]]),
  );
  const encoderVersion = used.encoding;
  return createPlanner({ findEngine, encoderVersion, namingKey, sharesAudio, catalogOf, lexicons });
};

const lineOf = ({ name, voice, systemVoice, recipe, document }: Rendition): string => {
  const { tools, encoding = "", engine, lang, text, textFormat, prosody, applied, format } = recipe;
  const { websiteId = "", replacements, voices = [] } = recipe;
  const { pitch, rate, volume } = prosody;
  const facts = [engine, recipe.voice, lang, format, `pitch ${pitch} rate ${rate} volume ${volume}`];
  return [
    name,
    ...facts,
    `applied ${applied.join(" ")}`,
    tools,
    encoding,
    websiteId,
    textFormat,
    text,
    voice,
    systemVoice,
  ]
    .concat(replacements === undefined ? [] : [replacements, document ?? ""], voices)
    .join(" | ");
};

const schema = synthesizeRequest(5_000);

/** The renditions of all requests that are not refused. */
const allRenditions = (synthesis: Planner): Rendition[] =>
  requests.flatMap(([body, website = "without-credentials"]) => {
    try {
      return synthesis.plan(requestFromBody(schema, body), website).renditions;
    } catch {
      return [];
    }
  });

describe("golden files: recipes", () => {
  it("give the recorded names, the best first", async () => {
    const synthesis = await openSynthesis();
    const recorded = requests.flatMap(([body, website = "without-credentials"]) => {
      const request = `${website} ${JSON.stringify(body)}`;
      try {
        const { renditions, characters } = synthesis.plan(requestFromBody(schema, body), website);
        return [`${request}: ${characters} characters`, ...renditions.map((one) => `  ${lineOf(one)}`)];
      } catch (error) {
        return [`${request}: ${(error as Error).name}`];
      }
    });
    expectGolden("recipes.txt", `${recorded.join("\n")}\n`);
  });

  it("lead to the names that version 0.1 gave to audio of websites' own providers", async () => {
    const renditions = allRenditions(await openSynthesis());
    expectGolden(
      "legacy-names.json",
      renditions.flatMap(({ recipe }) => legacyName(recipe) ?? []),
    );
  });

  const speaksIn =
    (tool: string) =>
    ({ recipe: { voice, voices = [] } }: Rendition): boolean =>
      [voice, ...voices].some((one) => one.startsWith(`${tool}:`));
  const changes: Record<string, [Partial<Versions>, (rendition: Rendition) => boolean]> = {
    "espeak-ng": [{ "espeak-ng": "1.2.4" }, speaksIn("espeak")],
    flite: [{ flite: "4.5.7" }, speaksIn("flite")],
    "the encoding of ogg": [
      { encoding: (format) => (format === "ogg" ? "ffmpeg 7.8.9; ogg 2" : versions.encoding(format)) },
      ({ recipe }) => recipe.format === "ogg" && recipe.encoding !== undefined,
    ],
  };
  for (const [what, [changed, isAffected]] of Object.entries(changes)) {
    it(`change with the version of ${what} if they depend on it, and no others`, async () => {
      const before = allRenditions(await openSynthesis());
      const after = allRenditions(await openSynthesis({ changed }));
      const isChanged = before.map(({ hash }, index) => hash !== after[index]?.hash);
      expect(isChanged).to.deep.equal(before.map(isAffected)).and.to.include(true);
    });
  }

  it("are the same for SSML that is recognised and declared, and others for each other format", async () => {
    const synthesis = await openSynthesis();
    const namesOf = (more: object, text = ssml) =>
      synthesis
        .plan(requestFromBody(schema, { ...plain, text, ...more }), own)
        .renditions.map(({ name }) => name);
    expect(namesOf({ text_format: "ssml" })).to.deep.equal(namesOf({}));
    expect(namesOf({ text_format: "plain" })).to.not.have.members(namesOf({}));
    expect(namesOf({ text_format: "plain" }, "One")).to.deep.equal(namesOf({}, "One"));
    expect(namesOf({ text_format: "markdown" }, "One")).to.not.have.members(namesOf({}, "One"));
  });

  it("have other names in another installation", async () => {
    const here = allRenditions(await openSynthesis());
    const there = allRenditions(await openSynthesis({ namingKey: createSecretKey(Buffer.alloc(32, 2)) }));
    const names = new Set(here.map(({ hash }) => hash));
    expect(there.filter(({ hash }) => names.has(hash))).to.deep.equal([]);
  });

  it("belong to the website that asked, and are planned for it alone, if websites share no audio", async () => {
    const synthesis = await openSynthesis({ sharesAudio: false });
    const plans = ["one", "another"].map((website) =>
      synthesis.plan(requestFromBody(schema, plain), website),
    );
    expect(plans.map(({ shared }) => shared)).to.deep.equal([false, false]);
    expect(new Set(plans.map(({ renditions: [{ hash }] }) => hash)).size).to.equal(2);
    for (const { name } of plans.flatMap(({ renditions }) => renditions)) expect(name).to.match(/^private\//);
  });
});
