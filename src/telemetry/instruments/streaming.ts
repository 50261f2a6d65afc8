import type { Streaming } from "../../application/synthesis/streaming.ts";
import { isTraced } from "../spans.ts";
import { beginWork, followed } from "../work.ts";

/** A span until the listener has had the last of it. Over a socket, where there is no request, a trace begins with it. */
export const observedStreaming =
  (isDrawn: () => boolean) =>
  (streaming: Streaming): Streaming => ({
    ...streaming,
    begin: async (plan, order, signal) => {
      const root = order.kind === "websocket" && isDrawn();
      if (!root && !isTraced()) return await streaming.begin(plan, order, signal);
      const attributes = { "voxledger.delivery": order.kind, "voxledger.request_id": order.requestId };
      const work = beginWork({ name: "stream", attributes, root, signal });
      try {
        const stream = await work.run(() => streaming.begin(plan, order, signal));
        work.span.setAttribute("voxledger.provenance", stream.provenance);
        return { ...stream, audio: followed(stream.audio, work) };
      } catch (error) {
        work.failed(error);
        throw error;
      }
    },
  });
