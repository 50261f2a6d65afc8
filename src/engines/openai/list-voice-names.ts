import { z } from "zod";
import { EngineFailed } from "../../domain/errors.ts";
import { normalProsody } from "../../domain/synthesis/speech.ts";
import { voiceName } from "../../domain/synthesis/voice-name.ts";
import { unknownSize, wavHeader } from "../../domain/synthesis/wav-header.ts";
import type { Engine } from "../engine.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { UpstreamFailed } from "../provider-http/request-failed.ts";
import { errorFrom, readJson, readStart } from "../provider-http/responses.ts";
import { isOpenAis, requestOf, type SpeechServer } from "./server.ts";
import { openAiNamesOf } from "./voices.ts";

const maxBytes = 4 * 1024 * 1024;
const maxVoices = 500;

/**
 * Lists the voices of the server: `given`, or its own list, or OpenAI's voices. Verifies the
 * credentials.
 * @throws {EngineFailed} if the server refuses the credentials, or cannot be reached
 */
export const listVoiceNames = async (
  server: SpeechServer,
  { engine, given }: { engine: Engine; given: readonly string[] | undefined },
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const isVerified = await verifiedByModels(server, signal);
  const names = given ?? (await listed(server, signal)) ?? openAiNamesOf(server.model);
  if (!isVerified) await verifyBySpeaking(engine, names, signal);
  return names;
};

/**
 * Verifies the credentials by the list of models, because OpenAI has no list of voices. The list is
 * free of charge. Returns false if that is inconclusive: many servers have no list, and keys
 * restricted to speech may not read it.
 */
const verifiedByModels = async (server: SpeechServer, signal: AbortSignal): Promise<boolean> => {
  const response = await server.exchange(requestOf(server, "models"), signal);
  if (response.status === 200) return (await jsonOf(response)) !== undefined;
  if (![403, 404, 405, 501].includes(response.status)) throw await refused(server, response);
  await readStart(response);
  return false;
};

/** Verifies by one word, aborted at its first bytes. */
const verifyBySpeaking = async (
  engine: Engine,
  [voice = ""]: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const over = new AbortController();
  const request = { text: "Hello.", ssml: false, voice, lang: "en-US", prosody: normalProsody } as const;
  try {
    await engine.synthesize(
      { ...request, format: "mp3", decode: undecoded },
      AbortSignal.any([signal, over.signal]),
    );
  } finally {
    over.abort(new EngineFailed("The verification has ended."));
  }
};

/**
 * Audio in another container proves the credentials as well. It need not be decoded for that, so a
 * single sample is yielded for it.
 */
async function* undecoded(): AsyncGenerator<Buffer, void> {
  yield Buffer.concat([wavHeader(8_000, unknownSize), Buffer.alloc(2)]);
}

/** An extension of Kokoro-FastAPI: strings, or objects with id and name. */
const voiceList = z.object({
  voices: z.array(
    z.union([
      z.string(),
      z
        .object({ id: z.string().optional(), name: z.string().optional() })
        .transform(({ id, name }) => id ?? name),
    ]),
  ),
});

/** Resolves with undefined if the server has no such list. */
const listed = async (server: SpeechServer, signal: AbortSignal): Promise<string[] | undefined> => {
  if (isOpenAis(server)) return undefined;
  const response = await server.exchange(requestOf(server, "audio/voices"), signal);
  if (response.status === 401) throw await refused(server, response);
  if (response.status !== 200) {
    await readStart(response);
    return undefined;
  }
  const { data } = voiceList.safeParse(await jsonOf(response));
  const names = data?.voices.filter((name) => voiceName.safeParse(name).success) ?? [];
  return names.length > 0 ? [...new Set(names as string[])].slice(0, maxVoices) : undefined;
};

/** Resolves with undefined for HTML: some servers respond with a page and 200 to unknown paths. */
const jsonOf = (response: UpstreamResponse): Promise<unknown> =>
  readJson(response, maxBytes).catch((error: unknown) => {
    if (error instanceof UpstreamFailed) return undefined;
    throw error;
  });

const refused = ({ apiKey }: SpeechServer, response: UpstreamResponse): Promise<Error> =>
  errorFrom(response, { hidden: apiKey ? [apiKey] : [] });
