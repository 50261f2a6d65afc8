import { randomUUID } from "node:crypto";
import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import type { handleUnaryCall } from "@grpc/grpc-js";
import { streamNameOf } from "./append-call.ts";
import type { EventLog } from "./event-log.ts";
import { sharedMessages, streamMessages } from "./protobuf.ts";

/** Hides the stream's events. Later appends continue its revisions. */
export const handleDelete =
  (log: EventLog): handleUnaryCall<DeleteReq, DeleteResp> =>
  (call, response) => {
    const stream = streamNameOf(call.request.getOptions()?.getStreamIdentifier());
    const data = Buffer.from(JSON.stringify({ $tb: log.lastRevision(stream) + 1 }));
    const event = { id: randomUUID(), type: "$metadata", contentType: "application/json" };
    log.append(`$$${stream}`, [{ ...event, data, metadata: Buffer.alloc(0) }], "any", () =>
      response(null, new streamMessages.DeleteResp().setNoPosition(new sharedMessages.Empty())),
    );
  };

/** Deletes the stream permanently: reads and appends fail. */
export const handleTombstone =
  (log: EventLog): handleUnaryCall<TombstoneReq, TombstoneResp> =>
  (call, response) => {
    log.tombstone(streamNameOf(call.request.getOptions()?.getStreamIdentifier()));
    response(null, new streamMessages.TombstoneResp().setNoPosition(new sharedMessages.Empty()));
  };
