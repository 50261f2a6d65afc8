import type { ResolvedEvent } from "@eventstore/db-client";
import type { EventMetadata, RecordedEvent } from "../event-store.ts";

/**
 * A position as a number. Commit and prepare position are the same for all that is appended over gRPC, and a log of 2^53
 * bytes (8 PiB) is beyond every server.
 */
export const positionOf = ({ commit }: { readonly commit: bigint }): number => {
  if (commit > Number.MAX_SAFE_INTEGER) throw new RangeError("the log's positions have outgrown numbers");
  return Number(commit);
};

export const fromPosition = (position: number): { commit: bigint; prepare: bigint } => ({
  commit: BigInt(position),
  prepare: BigInt(position),
});

type Found = NonNullable<ResolvedEvent["event"]>;

/** The event as the port tells it, or undefined for what is gone behind a link. */
export const toRecorded = ({ event }: ResolvedEvent): RecordedEvent | undefined => {
  if (!event) return undefined;
  const { id, type, streamId, revision, created, isJson } = event;
  return {
    id,
    type,
    // Another program's data may be any JSON value, or no JSON at all: then its text, or its bytes in base64.
    data: (isJson ? event.data : Buffer.from(event.data as Uint8Array).toString("base64")) as object,
    metadata: fromStored(event.metadata),
    stream: streamId,
    revision: Number(revision),
    position: positionOf(event.position ?? { commit: 0n }),
    created: created.getTime(),
  };
};

/** EventStoreDB's own projections and tools know correlation and causation by these names. */
export const toStored = ({ correlationId, causationId, ...rest }: EventMetadata): object => ({
  ...rest,
  ...(correlationId !== undefined && { $correlationId: correlationId }),
  ...(causationId !== undefined && { $causationId: causationId }),
});

const fromStored = (metadata: Found["metadata"]): EventMetadata => {
  if (typeof metadata !== "object" || metadata === null || metadata instanceof Uint8Array) return {};
  const { $correlationId, $causationId, ...rest } = metadata as Record<string, string>;
  return {
    ...rest,
    ...($correlationId !== undefined && { correlationId: $correlationId }),
    ...($causationId !== undefined && { causationId: $causationId }),
  };
};
