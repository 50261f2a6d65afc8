import type { Streaming } from "../../application/synthesis/streaming.ts";
import { isRecording } from "../spans.ts";
import { startOperation, trackStream } from "../work.ts";

/** A span until the listener has had the last of it. Over a socket, where there is no request, a trace begins with it. */
export const instrumentStreaming =
  (shouldSample: () => boolean) =>
  (streaming: Streaming): Streaming => ({
    ...streaming,
    begin: async (plan, order, signal) => {
      const root = order.kind === "websocket" && shouldSample();
      if (!root && !isRecording()) return await streaming.begin(plan, order, signal);
      const attributes = { "voxledger.delivery": order.kind, "voxledger.request_id": order.requestId };
      const work = startOperation({ name: "stream", attributes, root, signal });
      try {
        const stream = await work.run(() => streaming.begin(plan, order, signal));
        work.span.setAttribute("voxledger.provenance", stream.provenance);
        return { ...stream, audio: trackStream(stream.audio, work) };
      } catch (error) {
        work.fail(error);
        throw error;
      }
    },
  });
