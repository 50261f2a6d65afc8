import type { AppendReq, AppendResp } from "@eventstore/db-client/generated/streams_pb.js";
import type { handleClientStreamingCall, ServerErrorResponse } from "@grpc/grpc-js";
import type { EventLog } from "./event-log.ts";
import type { FaultInjection } from "./fault-injection.ts";
import { type AppendOutcome, type Expected, maxAppendBytes, type ProposedEvent } from "./logged-event.ts";
import { grpc, sharedMessages, streamMessages } from "./protobuf.ts";

/**
 * `Append`: one call for each append. Clients use it with credentials for one call, or if the
 * server lacks `BatchAppend`.
 */
export const handleAppend =
  (log: EventLog, injection: FaultInjection): handleClientStreamingCall<AppendReq, AppendResp> =>
  (call, response) => {
    const proposed: ProposedEvent[] = [];
    let options: AppendReq.Options | undefined;
    call.on("data", (request: AppendReq) => {
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message) proposed.push(toProposed(message));
    });
    call.on("end", () => {
      const refusal = injection.refusalOf(true);
      if (refusal) return response(refusal);
      const stream = streamNameOf(options?.getStreamIdentifier());
      injection.whenAppendsContinue(() => {
        if (isTooBig(proposed)) return response(tooBig());
        log.append(stream, proposed, expectedOf(options), (outcome) => {
          if (outcome.is === "appended" && injection.dropsResponse()) return;
          if (outcome.is === "deleted") return response(deleted(stream));
          if (outcome.is === "unknown") return response(timedOut());
          response(null, toResponse(outcome, injection.includesPosition(outcome.is === "repeated")));
        });
      }, stream);
    });
  };

type ProposedMessage = Pick<
  AppendReq.ProposedMessage,
  "getId" | "getMetadataMap" | "getData_asU8" | "getCustomMetadata_asU8"
>;

export const toProposed = (message: ProposedMessage): ProposedEvent => ({
  id: message.getId()?.getString() ?? "",
  type: message.getMetadataMap().get("type") ?? "",
  contentType: message.getMetadataMap().get("content-type") ?? "",
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

export const streamNameOf = (identifier: { getStreamName_asU8(): Uint8Array } | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString("utf8");

export const isTooBig = (proposed: readonly ProposedEvent[]): boolean => {
  const bytes = proposed.map(({ type, data, metadata }) => type.length * 2 + data.length + metadata.length);
  return bytes.reduce((sum, size) => sum + size, 0) > maxAppendBytes;
};

/** An error that the client recognises by its `exception` trailer. */
export const exception = (
  name: string,
  code: number,
  details: Record<string, string> = {},
): Partial<ServerErrorResponse> => {
  const metadata = new grpc.Metadata();
  metadata.set("exception", name);
  for (const [key, value] of Object.entries(details)) metadata.set(key, value);
  return { code, details: name, metadata };
};

export const deleted = (stream: string): Partial<ServerErrorResponse> =>
  exception("stream-deleted", grpc.status.FAILED_PRECONDITION, { "stream-name": encodeURIComponent(stream) });

const timedOut = (): Partial<ServerErrorResponse> => ({
  code: grpc.status.DEADLINE_EXCEEDED,
  details: "Operation timed out",
});

const tooBig = (): Partial<ServerErrorResponse> =>
  exception("maximum-append-size-exceeded", grpc.status.INVALID_ARGUMENT, {
    "maximum-append-size": String(maxAppendBytes),
  });

const expectedOf = (options: AppendReq.Options | undefined): Expected => {
  if (options?.hasRevision()) return Number(options.getRevision());
  if (options?.hasNoStream()) return "none";
  return options?.hasStreamExists() ? "exists" : "any";
};

const toResponse = (
  outcome: Exclude<AppendOutcome, { is: "deleted" | "unknown" }>,
  includePosition: boolean,
): AppendResp => {
  const response = new streamMessages.AppendResp();
  if (outcome.is === "conflict") {
    const conflict = new streamMessages.AppendResp.WrongExpectedVersion();
    if (outcome.actual < 0) conflict.setCurrentNoStream(new sharedMessages.Empty());
    else conflict.setCurrentRevision(String(outcome.actual));
    return response.setWrongExpectedVersion(conflict);
  }
  const success = new streamMessages.AppendResp.Success().setCurrentRevision(String(outcome.revision));
  if (!includePosition) return response.setSuccess(success.setNoPosition(new sharedMessages.Empty()));
  const position = new streamMessages.AppendResp.Position()
    .setCommitPosition(String(outcome.position))
    .setPreparePosition(String(outcome.position));
  return response.setSuccess(success.setPosition(position));
};
