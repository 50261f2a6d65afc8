import { SaxesParser } from "saxes";
import type { WireResponse } from "./faults.ts";
import { makeSound, type SoundFormat } from "./made-sound.ts";
import {
  json,
  Refused,
  refusing,
  type SeenRequest,
  serveWire,
  soundless,
  type WireServer,
  type WireServerOptions,
} from "./wire-server.ts";

export interface AzureWireOptions extends WireServerOptions {
  readonly subscriptionKey?: string;
}

export const azureSubscriptionKey = "0123456789abcdef-of-nobody";

/** The voices in `voices/list`, and the local voices that stand in for them. */
export const azureVoices = [
  { name: "en-US-JennyNeural", lang: "en-US", gender: "Female", espeak: "gmw/en-US+f3" },
  { name: "en-US-GuyNeural", lang: "en-US", gender: "Male", espeak: "gmw/en-US+m3" },
  { name: "en-GB-SoniaNeural", lang: "en-GB", gender: "Female", espeak: "gmw/en-GB-x-rp+f2" },
  { name: "de-DE-ConradNeural", lang: "de-DE", gender: "Male", espeak: "gmw/de+m3" },
  { name: "fr-FR-DeniseNeural", lang: "fr-FR", gender: "Female", espeak: "roa/fr+f3" },
] as const;

/** Azure Speech, the REST interface of a region. */
export const serveAzure = ({
  subscriptionKey = azureSubscriptionKey,
  ...options
}: AzureWireOptions = {}): Promise<WireServer> =>
  serveWire(
    refusing({
      response: async (request) => {
        if (request.headers["ocp-apim-subscription-key"] !== subscriptionKey) {
          throw new Refused(refusal(401, "Access denied due to invalid subscription key."));
        }
        const { method, path } = request;
        if (method === "POST" && path === "/cognitiveservices/v1") return synthesize(request);
        if (method === "GET" && path === "/cognitiveservices/voices/list") return list();
        throw new Refused(refusal(404, "Resource not found."));
      },
      refusal,
      ...soundless,
    }),
    options,
  );

const synthesize = async ({ headers, body }: SeenRequest): Promise<WireResponse> => {
  if (!headers["user-agent"]) throw new Refused(complaint(400, "The User-Agent header is missing."));
  if (!/^application\/ssml\+xml\b/.test(headers["content-type"] ?? "")) {
    throw new Refused(complaint(415, "The Content-Type must be application/ssml+xml."));
  }
  const [format, type] = formatOf(String(headers["x-microsoft-outputformat"] ?? ""));
  const sound = await makeSound({ ...understood(body.toString()), format });
  return { status: 200, headers: { "Content-Type": type }, body: sound };
};

const formatOf = (name: string): [SoundFormat, string] => {
  const [, kbit] = /^audio-\d+khz-(\d+)kbitrate-mono-mp3$/.exec(name) ?? [];
  const [, container, khz, shape] =
    /^(?:(audio|ogg|riff|raw)-)(\d+)khz-.*mono-(mp3|opus|pcm)$/.exec(name) ?? [];
  const sampleRate = Number(khz) * 1000;
  if (shape === "mp3" && kbit)
    return [{ kind: "mp3", sampleRate, kbitPerSecond: Number(kbit) }, "audio/mpeg"];
  if (container === "ogg" && shape === "opus") return [{ kind: "opus", sampleRate }, "audio/ogg"];
  if (container === "riff" && shape === "pcm") return [{ kind: "wav", sampleRate }, "audio/x-wav"];
  if (container === "raw" && shape === "pcm") return [{ kind: "pcm", sampleRate }, "audio/basic"];
  throw new Refused(complaint(400, "The X-Microsoft-OutputFormat header is missing or unknown."));
};

/** The content of the SSML: its one voice, its text, and every prosody element around it. */
const understood = (ssml: string) => {
  let text = "";
  let voice: string | undefined;
  const prosody = { pitch: 1, rate: 1, volume: 1 };
  const path: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on("opentag", ({ name, uri, attributes }) => {
    const value = (attribute: string) => attributes[attribute]?.value;
    if (path.length === 0) mustBeSpeak(name, uri, value);
    if (name === "voice") voice = value("name");
    if (name === "prosody") {
      prosody.pitch *= relative(value("pitch"));
      prosody.rate *= relative(value("rate"));
      prosody.volume *= Number(value("volume") ?? 100) / 100;
    }
    path.push(name);
  });
  parser.on("closetag", () => void path.pop());
  parser.on("text", (part) => {
    if (path.includes("voice")) text += part;
  });
  try {
    parser.write(ssml).close();
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(complaint(400, "The SSML cannot be parsed."));
  }
  const speaker = azureVoices.find(({ name }) => name === voice);
  if (!speaker) throw new Refused(complaint(400, `Unsupported voice ${voice}.`));
  const limited = {
    pitch: Math.min(1.5, Math.max(0.5, prosody.pitch)),
    rate: Math.min(2, Math.max(0.5, prosody.rate)),
    volume: Math.min(1, Math.max(0, prosody.volume)),
  };
  return { text, voice: speaker.espeak, ...limited };
};

const mustBeSpeak = (name: string, uri: string, value: (attribute: string) => string | undefined) => {
  const ours =
    uri === "http://www.w3.org/2001/10/synthesis" && value("version") === "1.0" && value("xml:lang");
  if (name === "speak" && ours) return;
  throw new Refused(complaint(400, "The root must be <speak> with its version, namespace and language."));
};

/** `+30%`, `-2st`, or a factor. */
const relative = (value = "1"): number => {
  const [, amount, unit] = /^([+-]?\d+(?:\.\d+)?)(%|st)?$/.exec(value) ?? [];
  if (amount === undefined) throw new Refused(complaint(400, "The prosody cannot be understood."));
  if (unit === "st") return 2 ** (Number(amount) / 12);
  return unit === "%" ? 1 + Number(amount) / 100 : Number(amount);
};

const list = (): WireResponse =>
  json(
    200,
    azureVoices.map(({ name, lang, gender }) => ({
      Name: `Microsoft Server Speech Text to Speech Voice (${lang}, ${name.slice(lang.length + 1)})`,
      DisplayName: name.slice(lang.length + 1).replace(/Neural$/, ""),
      LocalName: name.slice(lang.length + 1).replace(/Neural$/, ""),
      ShortName: name,
      Gender: gender,
      Locale: lang,
      SampleRateHertz: "24000",
      VoiceType: "Neural",
      Status: "GA",
    })),
  );

/** The error format of the gateway in front of the service. */
const refusal = (status: number, message = "Something is wrong at Azure's."): WireResponse =>
  json(status, { error: { code: String(status), message } });

/** The error format of the synthesis endpoint. */
const complaint = (status: number, message: string): WireResponse => ({
  status,
  headers: { "Content-Type": "text/plain" },
  body: Buffer.from(message),
});
