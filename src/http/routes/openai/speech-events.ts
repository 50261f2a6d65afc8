import type { SynthesisStream } from "../../../application/synthesis/delivery.ts";
import {
  defaultHeartbeatMs,
  heartbeat,
  heartbeatComment,
  withHeartbeats,
} from "../synthesis/event-stream.ts";
import { countingDelivery } from "../synthesis/stream.ts";
import { openAiEnvelope } from "./errors.ts";

/**
 * Formats audio as OpenAI's server-sent events: `speech.audio.delta` with the audio in base64, then
 * `speech.audio.done` with the usage. They have no `event:` field, because OpenAI's clients ignore
 * events with unknown names.
 */
export async function* speechEvents(
  stream: Pick<SynthesisStream, "audio" | "characters" | "delivered">,
  { heartbeatMs = defaultHeartbeatMs }: { readonly heartbeatMs?: number } = {},
): AsyncGenerator<string> {
  try {
    for await (const chunk of withHeartbeats(countingDelivery(stream), heartbeatMs)) {
      yield chunk === heartbeat
        ? heartbeatComment
        : event({ type: "speech.audio.delta", audio: chunk.toString("base64") });
    }
  } catch (error) {
    yield event({ type: "error", ...openAiEnvelope.present(error).body });
    return;
  }
  yield event({ type: "speech.audio.done", usage: usageOf(stream) });
}

/** A token is a charged character. Audio is not counted. */
const usageOf = ({ characters }: Pick<SynthesisStream, "characters">) => ({
  input_tokens: characters,
  output_tokens: 0,
  total_tokens: characters,
});

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
