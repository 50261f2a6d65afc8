import { z } from "zod";
import { UpgradeRequired } from "../kernel/errors/error-codes.ts";
import { json, type Operation, operation } from "../kernel/operation.ts";
import { streamPath } from "./handshake.ts";
import { streamMessage } from "./messages.ts";
import { sentSocketCodes } from "./socket-error.ts";

const ownCodes = sentSocketCodes.map((code) => `\`${code}\``);

const description = `A WebSocket (RFC 6455) that carries many syntheses at once. Messages are JSON objects in text frames. Audio is in binary
frames; the frames of several syntheses alternate.

| Message of the client | Meaning |
|---|---|
| \`{type: "synthesize", id, request}\` | Starts a synthesis. \`id\` is a UUID that the client chooses, \`request\` a SynthesizeRequest. Or without nesting, as in the links of voices: \`{type: "synthesize", id?, voice, lang, text, …}\`; the service generates a missing id. |
| \`{type: "cancel", id}\` | Cancels a synthesis: \`error\` with the code \`CANCELLED\` follows, unless it has already ended. |
| \`{type: "ping"}\` | Requests \`{type: "pong"}\`. |

| Message of the service | Meaning |
|---|---|
| \`{type: "stream_start", id, contentType, prosodyApplied}\` | Audio follows. |
| a binary frame | 0x01, the id as 36 bytes of ASCII, the index of the frame from 0 as uint32 big-endian, audio. At most 64 KiB. |
| \`{type: "stream_end", id, totalBytes, totalChunks}\` | The audio is complete. |
| \`{type: "error", id?, message, retryable, code?, retryAfterSeconds?, errors?}\` | The synthesis \`id\` has failed, and none of its messages follows. Without an id, the error concerns the socket. The codes are those of HTTP responses, ${ownCodes.slice(0, -1).join(", ")} and ${ownCodes.at(-1)}. |

A refused handshake gets an HTTP response. A page cannot read it; any other request, such as \`POST /v2/auth/refresh\`, shows the
reason. \`TOO_MANY_SOCKETS\` (429) means that the key has too many open sockets. The handshake counts as one request, and so does
each \`synthesize\`. A socket remains valid when its token expires, but not when the secret or the origin is revoked: the next
\`synthesize\` is refused, and the socket is closed with 1008 once its syntheses have ended. Only engines on the website's own
credentials stream; any other voice is \`NOT_FOUND\`. With volume 0, the start is followed by the end.

If a client does not read, the service stops sending and eventually disconnects it. An idle socket is closed with 1000. At a shutdown a
socket is closed with 1001, or with 1012 if syntheses are aborted. Close frames have their reason as text.`;

/**
 * `/v2/text/stream` over plain HTTP: everything but a valid handshake, which the WebSocket server
 * takes over.
 */
export const openStreamOperation = (): Operation =>
  operation({
    method: "get",
    path: streamPath,
    id: "openStream",
    tag: "Synthesis",
    summary: "Open a WebSocket for streaming synthesis",
    description,
    auth: "websocket",
    responses: {
      101: {
        description: "The messages in both directions.",
        headers: {
          Upgrade: z.literal("websocket").meta({ description: "The connection is now a WebSocket." }),
          "Sec-WebSocket-Accept": z.string().meta({
            description: "The response to `Sec-WebSocket-Key`.",
            examples: ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="],
          }),
        },
        content: json(streamMessage),
      },
    },
    errors: [400, 426, 503],
    handle: () => {
      throw new UpgradeRequired();
    },
  });
