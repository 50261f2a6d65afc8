import type { ReadReq, ReadResp } from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerWritableStream } from "@grpc/grpc-js";
import type { LoggedEvent } from "./logged-event.ts";
import { streamIdentifier, streamMessages, uuidOf } from "./protobuf.ts";

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Writes a response, and waits while the client's buffer is full. */
export const write = async (call: ReadCall, response: ReadResp): Promise<void> => {
  if (!call.write(response)) await firstOf(call, ["drain"]);
};

/** Resolves at the first of these events, or when the call has ended. */
export const firstOf = (
  call: ReadCall,
  events: readonly string[],
  also?: (resolve: () => void) => () => void,
) =>
  new Promise<void>((resolve) => {
    const ends = [...events, "cancelled", "close", "error", "finish"];
    const done = (): void => {
      for (const event of ends) call.off(event, done);
      forget?.();
      resolve();
    };
    const forget = also?.(done);
    for (const event of ends) call.on(event, done);
  });

const ticksPerMillisecond = 10_000n;

export const toResponse = (event: LoggedEvent): ReadResp => {
  const position = String(event.position);
  const recorded = new streamMessages.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuidOf(event.id))
    .setStreamIdentifier(streamIdentifier(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setCustomMetadata(event.metadata)
    .setData(event.data);
  recorded
    .getMetadataMap()
    .set("type", event.type)
    .set("content-type", event.contentType)
    .set("created", String(BigInt(event.created) * ticksPerMillisecond));
  const read = new streamMessages.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position);
  return new streamMessages.ReadResp().setEvent(read);
};

export const checkpointAt = (position: number): ReadResp => {
  const checkpoint = new streamMessages.ReadResp.Checkpoint()
    .setCommitPosition(String(position))
    .setPreparePosition(String(position));
  return new streamMessages.ReadResp().setCheckpoint(checkpoint);
};

export const confirmation = (id: string): ReadResp =>
  new streamMessages.ReadResp().setConfirmation(
    new streamMessages.ReadResp.SubscriptionConfirmation().setSubscriptionId(id),
  );

export const caughtUp = (): ReadResp =>
  new streamMessages.ReadResp().setCaughtUp(new streamMessages.ReadResp.CaughtUp());
