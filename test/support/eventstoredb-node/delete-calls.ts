import { randomUUID } from "node:crypto";
import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import type { handleUnaryCall } from "@grpc/grpc-js";
import { nameOf } from "./append-call.ts";
import type { EventLog } from "./event-log.ts";
import { sharedMessages, streamMessages } from "./protobuf.ts";

/** Hides what the stream holds; later appends go on counting. */
export const deleting =
  (log: EventLog): handleUnaryCall<DeleteReq, DeleteResp> =>
  (call, answer) => {
    const stream = nameOf(call.request.getOptions()?.getStreamIdentifier());
    const data = Buffer.from(JSON.stringify({ $tb: log.lastRevision(stream) + 1 }));
    const event = { id: randomUUID(), type: "$metadata", contentType: "application/json" };
    log.append(`$$${stream}`, [{ ...event, data, metadata: Buffer.alloc(0) }], "any", () =>
      answer(null, new streamMessages.DeleteResp().setNoPosition(new sharedMessages.Empty())),
    );
  };

/** Deletes the stream for good: nothing is read from it or appended to it any more. */
export const tombstoning =
  (log: EventLog): handleUnaryCall<TombstoneReq, TombstoneResp> =>
  (call, answer) => {
    log.tombstone(nameOf(call.request.getOptions()?.getStreamIdentifier()));
    answer(null, new streamMessages.TombstoneResp().setNoPosition(new sharedMessages.Empty()));
  };
