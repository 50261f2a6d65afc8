import type { ReadReq, ReadResp } from "@eventstore/db-client/generated/streams_pb.js";
import type { handleServerStreamingCall } from "@grpc/grpc-js";
import { deleted, exception, streamNameOf } from "./append-call.ts";
import type { EventLog } from "./event-log.ts";
import type { FaultInjection, OpenCall } from "./fault-injection.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { grpc, streamIdentifier, streamMessages } from "./protobuf.ts";
import { type ReadCall, toResponse, write } from "./read-responses.ts";
import { follow } from "./subscription-call.ts";

/** `Read`: reads of a stream or of $all in both directions, and subscriptions to $all. */
export const handleRead =
  (log: EventLog, injection: FaultInjection): handleServerStreamingCall<ReadReq, ReadResp> =>
  (call) => {
    const refusal = injection.refusalOf(call.metadata.get("requires-leader").includes("true"));
    if (refusal) return void call.emit("error", refusal);
    const options = call.request.getOptions();
    if (!options) return void call.end();
    const calls = options.hasSubscription() ? injection.subscriptions : injection.reads;
    const handle: OpenCall = { end: () => call.end(), fail: (error) => void call.emit("error", error) };
    calls.add(handle);
    for (const ending of ["cancelled", "error", "finish", "close"])
      call.on(ending, () => calls.delete(handle));
    const isOpen = (): boolean => calls.has(handle);

    if (options.hasSubscription()) void follow(log, call, options, isOpen, injection.countDelivered);
    else if (options.hasStream()) void readStream(log, call, options, isOpen);
    else void readAll(log, call, options, isOpen);
  };

const readStream = async (
  log: EventLog,
  call: ReadCall,
  options: ReadReq.Options,
  isOpen: () => boolean,
): Promise<void> => {
  const wanted = options.getStream();
  const stream = streamNameOf(wanted?.getStreamIdentifier());
  if (log.isTombstone(stream)) return void call.emit("error", deleted(stream));
  if (!log.isKnown(stream)) {
    const notFound = new streamMessages.ReadResp.StreamNotFound();
    call.write(
      new streamMessages.ReadResp().setStreamNotFound(notFound.setStreamIdentifier(streamIdentifier(stream))),
    );
    return void call.end();
  }
  const events = log.visible(stream);
  const backwards = isBackwards(options);
  const from = wanted?.hasRevision() ? Number(wanted.getRevision()) : wanted?.hasEnd() ? Infinity : 0;
  const count = Number(options.getCount());
  const at = firstFrom(events, backwards ? from + 1 : from);
  const matching = backwards
    ? events.slice(Math.max(0, at - count), at).toReversed()
    : events.slice(at, at + count);
  await send(call, matching, options, isOpen);
};

/** The index of the first event with this revision or a later one. */
const firstFrom = (events: readonly LoggedEvent[], revision: number): number => {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle] as LoggedEvent).revision < revision) low = middle + 1;
    else high = middle;
  }
  return low;
};

const readAll = async (
  log: EventLog,
  call: ReadCall,
  options: ReadReq.Options,
  isOpen: () => boolean,
): Promise<void> => {
  const wanted = options.getAll();
  const from = wanted?.hasPosition() ? Number(wanted.getPosition()?.getCommitPosition()) : undefined;
  const at = from === undefined ? (wanted?.hasEnd() ? log.all.length : 0) : log.indexAt(from);
  if (from !== undefined && at < log.all.length && !log.begins(from)) {
    return void call.emit("error", exception("invalid-position", grpc.status.INVALID_ARGUMENT));
  }
  const count = Number(options.getCount());
  const events = isBackwards(options)
    ? log.all.slice(Math.max(0, at - count), at).toReversed()
    : log.all.slice(at, at + count);
  await send(call, events, options, isOpen);
};

const isBackwards = (options: ReadReq.Options): boolean =>
  options.getReadDirection() === streamMessages.ReadReq.Options.ReadDirection.BACKWARDS;

const send = async (
  call: ReadCall,
  events: readonly LoggedEvent[],
  options: ReadReq.Options,
  isOpen: () => boolean,
): Promise<void> => {
  for (const event of events.slice(0, Number(options.getCount()))) {
    if (!isOpen()) return;
    await write(call, toResponse(event));
  }
  call.end();
};
