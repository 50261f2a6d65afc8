import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { streamMessage } from "../../websocket/messages.ts";
import type { Described } from "../described.ts";
import { limits, requestId } from "../headers.ts";
import { sockets } from "../security.ts";

const description = `A WebSocket (RFC 6455) on which many syntheses share one connection. Its messages are JSON objects in text
frames, its audio comes in binary frames, and several streams take turns frame by frame.

| From the client | |
|---|---|
| \`{type: "synthesize", id, request}\` | begins one; \`id\` is a UUID of the client's own, \`request\` a SynthesizeRequest. Or flat, as in the voices' links: \`{type: "synthesize", id?, voice, lang, text, …}\`; without an id one is made, and told at the start. |
| \`{type: "cancel", id}\` | ends one: \`error\` with the code \`CANCELLED\` follows. Of what has ended already nothing is said. |
| \`{type: "ping"}\` | is answered by \`{type: "pong"}\`. |

| From the service | |
|---|---|
| \`{type: "stream_start", id, contentType, prosodyApplied}\` | the first bytes are about to come. |
| a binary frame | 0x01, the id as 36 bytes of ASCII, the frame's index from 0 as uint32 big-endian, audio. At most 64 KiB. |
| \`{type: "stream_end", id, totalBytes, totalChunks}\` | the sound is whole. |
| \`{type: "error", id?, message, retryable, code?, retryAfterSeconds?, errors?}\` | the synthesis \`id\` has failed, and nothing of it follows; without an id, something else has. Codes are those of answers over HTTP, and \`CANCELLED\` and \`TOO_MANY_STREAMS\`. |

A handshake is refused in HTTP, before the socket opens. A page cannot see why: it learns the same from any other request,
such as \`POST /v2/auth/refresh\`. \`TOO_MANY_SOCKETS\` (429) means that the key has too many sockets open. The handshake counts
as one request and each \`synthesize\` as another. A socket outlives the token that it was opened with, but not the secret
or the origin: the next \`synthesize\` is refused, and the socket closed with 1008 once what was under way has ended. Only
engines on the website's own credentials stream: \`NOT_FOUND\` for all others. With volume 0 a start is followed by the end.

A client that does not read is sent nothing more, and disconnected after a while; an idle socket is closed with 1000. At a
shutdown a socket is closed with 1001, or with 1012 if that ends a synthesis. Close frames carry their reason as text.`;

const handshakeHeaders = z.object({
  ...requestId,
  ...limits,
  Upgrade: z.literal("websocket").meta({ description: "The connection is a WebSocket from here on." }),
  "Sec-WebSocket-Accept": z
    .string()
    .meta({ description: "The answer to `Sec-WebSocket-Key`.", examples: ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="] }),
});

/** `/v2/text/stream`: what OpenAPI can say of a WebSocket. */
export const streamPaths = ({ errorAnswers }: Described): ZodOpenApiPathsObject => ({
  "/v2/text/stream": {
    get: {
      operationId: "openStream",
      tags: ["Synthesis"],
      summary: "Open a WebSocket for speech while it is made",
      description,
      security: sockets,
      responses: {
        "101": {
          description: "The messages that may follow, in both directions.",
          headers: handshakeHeaders,
          content: { "application/json": { schema: streamMessage } },
        },
        ...errorAnswers("counted", [400, 401, 403, 429, 503]),
        ...errorAnswers("anyone", [426]),
      },
    },
  },
});
