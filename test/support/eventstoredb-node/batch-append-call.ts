import type { BatchAppendReq, BatchAppendResp } from "@eventstore/db-client/generated/streams_pb.js";
import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { isTooBig, streamNameOf, toProposed } from "./append-call.ts";
import type { EventLog } from "./event-log.ts";
import type { FaultInjection, OpenCall } from "./fault-injection.ts";
import { type AppendOutcome, type Expected, maxAppendBytes, type ProposedEvent } from "./logged-event.ts";
import { Any, GoogleEmpty, grpc, sharedMessages, statusMessages, streamMessages } from "./protobuf.ts";

interface Append {
  readonly request: BatchAppendReq;
  readonly options: BatchAppendReq.Options | undefined;
  readonly proposed: ProposedEvent[];
}

/** `BatchAppend`: a stream of appends with correlation ids. A large append has several messages. */
export const handleBatchAppend =
  (log: EventLog, injection: FaultInjection): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> =>
  (call) => {
    const open = new Map<string, Append>();
    const handle: OpenCall = { end: () => call.end(), fail: (error) => void call.emit("error", error) };
    injection.batches.add(handle);
    const remove = (): void => void injection.batches.delete(handle);

    const settle = (append: Append): void => {
      const { options, proposed } = append;
      if (isTooBig(proposed)) return void response(append, "too big");
      const deadline = options?.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY;
      if (deadline <= log.now()) return void response(append, { is: "unknown" });
      log.append(streamNameOf(options?.getStreamIdentifier()), proposed, expectedOf(options), (outcome) => {
        if (outcome.is !== "appended" || !injection.dropsResponse()) response(append, outcome);
        if (injection.repeatsResponse()) response(append, outcome);
      });
    };

    const response = ({ request, options }: Append, outcome: AppendOutcome | "too big"): void => {
      if (!injection.batches.has(handle)) return;
      const response = new streamMessages.BatchAppendResp()
        .setCorrelationId(request.getCorrelationId())
        .setStreamIdentifier(options?.getStreamIdentifier());
      call.write(fill(response, outcome, injection));
    };

    call.on("data", (request: BatchAppendReq) => {
      const refusal = injection.refusalOf(true);
      if (refusal) return handle.fail(refusal);
      const correlation = request.getCorrelationId()?.getString() ?? "";
      const append = open.get(correlation) ?? { request, options: request.getOptions(), proposed: [] };
      open.set(correlation, append);
      append.proposed.push(...request.getProposedMessagesList().map(toProposed));
      if (!request.getIsFinal()) return;
      open.delete(correlation);
      injection.whenAppendsContinue(
        () => settle(append),
        streamNameOf(append.options?.getStreamIdentifier()),
      );
    });
    call.on("end", () => {
      remove();
      call.end();
    });
    call.on("cancelled", remove);
    call.on("error", remove);
    call.on("finish", remove);
  };

const expectedOf = (options: BatchAppendReq.Options | undefined): Expected => {
  if (options?.hasStreamPosition()) return Number(options.getStreamPosition());
  if (options?.hasNoStream()) return "none";
  return options?.hasStreamExists() ? "exists" : "any";
};

const fill = (
  response: BatchAppendResp,
  outcome: AppendOutcome | "too big",
  injection: FaultInjection,
): BatchAppendResp => {
  if (outcome === "too big") {
    const detail = new sharedMessages.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendBytes);
    return response.setError(
      status(grpc.status.INVALID_ARGUMENT, "MaximumAppendSizeExceeded", detail.serializeBinary()),
    );
  }
  if (outcome.is === "unknown") {
    const detail = new sharedMessages.Timeout();
    return response.setError(status(grpc.status.DEADLINE_EXCEEDED, "Timeout", detail.serializeBinary()));
  }
  if (outcome.is === "deleted") {
    const detail = new sharedMessages.StreamDeleted().setStreamIdentifier(response.getStreamIdentifier());
    return response.setError(
      status(grpc.status.FAILED_PRECONDITION, "StreamDeleted", detail.serializeBinary()),
    );
  }
  if (outcome.is === "conflict") {
    const detail = new sharedMessages.WrongExpectedVersion();
    if (outcome.actual < 0) detail.setCurrentNoStream(new GoogleEmpty());
    else detail.setCurrentStreamRevision(String(outcome.actual));
    return response.setError(
      status(grpc.status.FAILED_PRECONDITION, "WrongExpectedVersion", detail.serializeBinary()),
    );
  }
  const success = new streamMessages.BatchAppendResp.Success().setCurrentRevision(String(outcome.revision));
  if (!injection.includesPosition(outcome.is === "repeated")) {
    return response.setSuccess(success.setNoPosition(new GoogleEmpty()));
  }
  const position = new sharedMessages.AllStreamPosition()
    .setCommitPosition(String(outcome.position))
    .setPreparePosition(String(outcome.position));
  return response.setSuccess(success.setPosition(position));
};

/** A `google.rpc.Status`, whose detail the client recognises by its type name. */
const status = (code: number, type: string, bytes: Uint8Array) => {
  const details = new Any();
  details.pack(bytes, `event_store.client.${type}`);
  return new statusMessages.Status().setCode(code).setMessage(type).setDetails(details);
};
