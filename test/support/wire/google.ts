import { SaxesParser } from "saxes";
import { z } from "zod";
import type { WireResponse } from "./faults.ts";
import { makeSound, type SoundFormat } from "./made-sound.ts";
import {
  json,
  Refused,
  refusing,
  type SeenRequest,
  serveWire,
  type WireServer,
  type WireServerOptions,
} from "./wire-server.ts";

export interface GoogleWireOptions extends WireServerOptions {
  /** The accepted `x-goog-api-key` or `?key=`. */
  readonly apiKey?: string;
  /** The accepted bearer token. */
  readonly accessToken?: string;
  /** The longest sentence, in bytes. Default: none. */
  readonly maxSentenceBytes?: number;
}

export const googleApiKey = "AIzaSy-test-key-of-nobody";
export const googleAccessToken = "ya29.test-token-of-nobody";

/** The voices in `GET /v1/voices`, and the local voices that stand in for them. */
export const googleVoices = [
  { name: "en-US-Neural2-C", lang: "en-US", ssmlGender: "FEMALE", espeak: "gmw/en-US+f3" },
  { name: "en-US-Neural2-D", lang: "en-US", ssmlGender: "MALE", espeak: "gmw/en-US+m3" },
  { name: "en-US-Chirp3-HD-Achernar", lang: "en-US", ssmlGender: "FEMALE", espeak: "gmw/en-US+f2" },
  { name: "en-GB-Wavenet-A", lang: "en-GB", ssmlGender: "FEMALE", espeak: "gmw/en-GB-x-rp+f2" },
  { name: "de-DE-Neural2-B", lang: "de-DE", ssmlGender: "MALE", espeak: "gmw/de+m3" },
  { name: "fr-FR-Neural2-A", lang: "fr-FR", ssmlGender: "FEMALE", espeak: "roa/fr+f3" },
] as const;

/** Google Cloud Text-to-Speech, the REST interface. */
export const serveGoogle = ({
  apiKey = googleApiKey,
  accessToken = googleAccessToken,
  maxSentenceBytes = Number.POSITIVE_INFINITY,
  ...options
}: GoogleWireOptions = {}): Promise<WireServer> =>
  serveWire(
    refusing({
      response: async (request) => {
        authorize(request, apiKey, accessToken);
        const { pathname, searchParams } = new URL(request.path, "http://localhost");
        if (request.method === "POST" && pathname === "/v1/text:synthesize")
          return synthesize(request, maxSentenceBytes);
        if (request.method === "GET" && pathname === "/v1/voices")
          return list(searchParams.get("languageCode"));
        throw new Refused(refusal(404, "Not found."));
      },
      refusal,
      empty: json(200, { audioContent: "" }),
      malformed: json(200, { audioContent: { not: "audio" } }),
    }),
    options,
  );

/** Google responds to a wrong API key with 400, to a wrong token with 401. */
const authorize = ({ path, headers }: SeenRequest, apiKey: string, accessToken: string) => {
  const { searchParams } = new URL(path, "http://localhost");
  const key = headers["x-goog-api-key"] ?? searchParams.get("key");
  if (headers.authorization === `Bearer ${accessToken}` || key === apiKey) return;
  if (headers.authorization !== undefined) {
    throw new Refused(refusal(401, "Request had invalid authentication credentials."));
  }
  if (key === null) throw new Refused(refusal(403, "The request is missing a valid API key."));
  throw new Refused(
    refusal(400, "API key not valid. Please pass a valid API key.", [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
    ]),
  );
};

const words = z.string().min(1);
const body = z.strictObject({
  input: z.union([z.strictObject({ text: words }), z.strictObject({ ssml: words })]),
  voice: z.strictObject({
    languageCode: z.string().min(2),
    name: z.string().optional(),
    ssmlGender: z.enum(["SSML_VOICE_GENDER_UNSPECIFIED", "MALE", "FEMALE", "NEUTRAL"]).optional(),
  }),
  audioConfig: z.strictObject({
    audioEncoding: z.enum(["LINEAR16", "MP3", "OGG_OPUS", "PCM"]),
    speakingRate: z.number().min(0.25).max(2).default(1),
    pitch: z.number().min(-20).max(20).default(0),
    volumeGainDb: z.number().min(-96).max(16).default(0),
    sampleRateHertz: z.number().int().min(8000).max(48_000).default(24_000),
  }),
});

const maxInputBytes = 5000;

const synthesize = async (request: SeenRequest, maxSentenceBytes: number): Promise<WireResponse> => {
  const { input, voice, audioConfig } = parsed(request.body);
  const said = "ssml" in input ? input.ssml : input.text;
  if (Buffer.byteLength(said) > maxInputBytes) {
    throw new Refused(refusal(400, `The input is longer than the limit of ${maxInputBytes} bytes.`));
  }
  const sentences = ("ssml" in input ? textOf(input.ssml) : input.text).split(/(?<=[.!?])\s+/);
  const tooLong = sentences.find((sentence) => Buffer.byteLength(sentence) > maxSentenceBytes);
  if (tooLong !== undefined) {
    const message = `This request contains sentences that are too long. Consider splitting up long sentences with sentence ending punctuation e.g. periods. Sentence starting with: "${tooLong.slice(0, 5)}" is too long.`;
    throw new Refused(refusal(400, message));
  }
  const { audioEncoding, speakingRate, pitch, volumeGainDb, sampleRateHertz } = audioConfig;
  const sound = await makeSound({
    text: "ssml" in input ? textOf(input.ssml) : input.text,
    voice: speakerOf(voice, pitch),
    rate: speakingRate,
    pitch: 2 ** (pitch / 12),
    volume: 10 ** (volumeGainDb / 20),
    format: formats[audioEncoding](sampleRateHertz),
  });
  return json(200, { audioContent: sound.toString("base64") });
};

const formats = {
  LINEAR16: (sampleRate) => ({ kind: "wav", sampleRate }),
  PCM: (sampleRate) => ({ kind: "pcm", sampleRate }),
  MP3: (sampleRate) => ({ kind: "mp3", sampleRate, kbitPerSecond: 32 }),
  OGG_OPUS: (sampleRate) => ({ kind: "opus", sampleRate, kbitPerSecond: 32 }),
} satisfies Record<string, (sampleRate: number) => SoundFormat>;

const speakerOf = ({ name, languageCode }: z.output<typeof body>["voice"], pitch: number): string => {
  const voice = googleVoices.find((one) =>
    name === undefined ? one.lang === languageCode : one.name === name,
  );
  if (!voice) throw new Refused(refusal(400, `Voice '${name}' does not exist. Is it misspelled?`));
  if (voice.lang !== languageCode) {
    throw new Refused(
      refusal(400, `Requested language code '${languageCode}' doesn't match the voice '${name}'.`),
    );
  }
  if (pitch !== 0 && voice.name.includes("-Chirp3-")) {
    throw new Refused(refusal(400, "This voice does not support pitch parameters at this time."));
  }
  return voice.espeak;
};

const parsed = (bytes: Buffer): z.output<typeof body> => {
  try {
    return body.parse(JSON.parse(bytes.toString()));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    throw new Refused(
      refusal(400, `Invalid JSON payload received. ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`),
    );
  }
};

const textOf = (ssml: string): string => {
  let text = "";
  const parser = new SaxesParser();
  parser.on("text", (part) => {
    text += part;
  });
  try {
    parser.write(ssml).close();
    return text;
  } catch {
    throw new Refused(refusal(400, "Invalid SSML. Newer voices like Neural2 require valid SSML."));
  }
};

const list = (languageCode: string | null): WireResponse =>
  json(200, {
    voices: googleVoices
      .filter(({ lang }) => languageCode === null || lang.startsWith(languageCode))
      .map(({ name, lang, ssmlGender }) => ({
        languageCodes: [lang],
        name,
        ssmlGender,
        naturalSampleRateHertz: 24_000,
      })),
  });

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

const refusal = (
  code: number,
  message = "Something is wrong at Google's.",
  details: unknown[] = [],
): WireResponse => json(code, { error: { code, message, status: statuses[code] ?? "UNKNOWN", details } });
