import type { ServiceApi } from "../api/service-api.ts";
import { VoxledgerError } from "../errors.ts";
import { synthesisQuery, type Transport, type TransportMode, type VoiceRequest } from "./transport.ts";
import { type WebSocketOptions, webSocketTransport } from "./websocket-transport.ts";

export const createTransport = ({
  mode,
  api,
  ...socketOptions
}: WebSocketOptions & {
  readonly mode: TransportMode;
  readonly api: Pick<ServiceApi, "synthesize" | "stream">;
}): Transport => {
  const download: Transport = (part, voice, signal) =>
    api.synthesize(synthesisQuery(part, voice), signal, voice.maxWaitMs);
  const stream: Transport = (part, voice, signal) =>
    api.stream(synthesisQuery(part, voice), signal, voice.maxWaitMs);
  switch (mode) {
    case "chunks":
      return download;
    case "stream":
      return withFallback(stream, download);
    case "websocket":
      return withFallback(webSocketTransport(socketOptions), download);
  }
};

/**
 * The service streams premium voices only, and responds `NOT_FOUND` for all others. Such a voice is
 * downloaded instead, and no stream is requested for it again.
 */
const withFallback = (stream: Transport, download: Transport): Transport => {
  const notStreamed = new Set<string>();
  return async (part, voice, signal) => {
    const id = voiceId(voice);
    if (notStreamed.has(id)) return await download(part, voice, signal);
    try {
      return await stream(part, voice, signal);
    } catch (error) {
      if (!(error instanceof VoxledgerError && error.code === "NOT_FOUND")) throw error;
      const audio = await download(part, voice, signal); // the error for an unknown voice is NOT_FOUND here, too
      notStreamed.add(id);
      return audio;
    }
  };
};

const voiceId = ({ voice, lang }: VoiceRequest): string =>
  voice === undefined ? `language ${lang}` : `voice ${voice}`;
