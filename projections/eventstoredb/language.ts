/**
 * The part of EventStoreDB's projection language that is used here. Its functions are globals of the script, and its server
 * takes handlers that are functions of the old kind alone: some releases pass over arrow functions, in silence.
 */
export interface ProjectionLanguage {
  fromAll(): Source;
  fromStream(stream: string): Source;
}

export interface Source {
  /** Events for which there is no partition (null) are passed over. */
  partitionBy(partitionOf: (event: ServerEvent) => string | null): {
    when<S>(handlers: { readonly $init: () => S; readonly $any: (state: S, event: ServerEvent) => S }): void;
  };
}

/** An event as the server tells it. */
export interface ServerEvent {
  readonly streamId: string;
  readonly sequenceNumber: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly isJson: boolean;
  /**
   * The event's data as text. The server also has it parsed, as `data`; but a look at `data` faults the projection for good
   * when the text is not JSON, is not an object, or holds U+2028 or U+2029 unescaped.
   */
  readonly bodyRaw?: string | null;
}
