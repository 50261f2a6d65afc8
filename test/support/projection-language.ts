import { type Context, createContext, runInContext } from "node:vm";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";

/** A script as compiled by an EventStoreDB server. */
export interface CompiledProjection {
  /** The states of all partitions after these events, which are a log from its start, in order. */
  run(events: Iterable<ScriptEvent>): Map<string, unknown>;
  /**
   * Folds one event into the states of an earlier call, which are JSON by partition. Returns the
   * partition whose state it has replaced.
   * @throws what the script throws; the states are then unchanged
   */
  fold(states: Map<string, string>, event: ScriptEvent): string | undefined;
}

export type ScriptEvent = Pick<RecordedEvent, "id" | "type" | "stream" | "revision"> & {
  /** JSON; undefined if the data is not JSON. */
  readonly json: string | undefined;
};

export const toScriptEvent = ({ id, type, stream, revision, data }: RecordedEvent): ScriptEvent => ({
  id,
  type,
  stream,
  revision,
  json: JSON.stringify(data),
});

/** Globals that the oldest servers' JavaScript engines lack. */
const unknownToServers = `
  for (const name of ["structuredClone", "Iterator", "WeakRef", "FinalizationRegistry", "Atomics", "Intl", "console"])
    delete globalThis[name];
  for (const [owner, names] of [
    [Object, ["hasOwn", "groupBy", "fromEntries"]],
    [Map, ["groupBy"]],
    [Promise, ["withResolvers", "any", "allSettled", "try"]],
    [Array.prototype, ["at", "flat", "flatMap", "findLast", "findLastIndex", "toSorted", "toReversed", "toSpliced", "with"]],
    [String.prototype, ["at", "matchAll", "replaceAll", "isWellFormed", "toWellFormed"]],
  ]) for (const name of names) delete owner[name];`;

/** The JSON.parse of these engines refuses U+2028 and U+2029 in JSON strings. */
const strictParser = `{
  const parse = JSON.parse;
  JSON.parse = (text) => {
    if (/[\\u2028\\u2029]/.test(text)) throw new SyntaxError("Unexpected token in JSON");
    return parse(text);
  };
}`;

/** The server's limit on the time of a script. */
const compilationMs = 500;
/** A busy machine may exceed the limit with any script. One that is too slow always exceeds it. */
const maxAttempts = 5;

/**
 * Compiles a script in the projection language like a server (KurrentDB's
 * JintProjectionStateHandler). The language's functions exist only during compilation. Handlers
 * that are not ES5 functions are silently ignored. States are JSON between events, and `data` is
 * parsed on access. Only the functions that the project uses exist here.
 * @throws what the script throws
 */
export const compileProjection = (query: string): CompiledProjection => {
  for (let attempt = 1; ; attempt++) {
    try {
      return compileOnce(query);
    } catch (error) {
      const isTooSlow = (error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
      if (!isTooSlow || attempt === maxAttempts) throw error;
    }
  }
};

const compileOnce = (query: string): CompiledProjection => {
  const script: Script = { source: undefined, partitionOf: undefined, handlers: {} };
  const context = createContext(languageFor(script));
  runInContext(unknownToServers, context);
  runInContext(strictParser, context);
  runInContext(query, context, { timeout: compilationMs });
  for (const name of ["fromAll", "fromStream"]) delete context[name];
  const parse = runInContext("JSON.parse", context) as (json: string) => unknown;
  const fold: CompiledProjection["fold"] = (states, event) => foldOne(script, parse, states, event);
  return {
    fold,
    run: (events) => {
      const states = new Map<string, string>();
      for (const event of events) fold(states, event);
      return new Map([...states].map(([partition, state]) => [partition, JSON.parse(state)]));
    },
  };
};

interface Script {
  source: ((stream: string) => boolean) | undefined;
  partitionOf: Handler | undefined;
  handlers: Record<string, Handler>;
}

type Handler = (...given: unknown[]) => unknown;

const languageFor = (script: Script): Context => {
  const when = (handlers: Record<string, unknown>): void => {
    for (const [name, handler] of Object.entries(handlers)) {
      if (isOldFunction(handler)) script.handlers[name] = handler;
    }
  };
  const partitionBy = (partitionOf: unknown): object => {
    if (!isOldFunction(partitionOf)) throw new TypeError("partitionBy");
    script.partitionOf = partitionOf;
    return { when };
  };
  const from = (source: Script["source"]): object => {
    script.source = source;
    return { partitionBy };
  };
  return {
    fromAll: () => from((stream) => !stream.startsWith("$")),
    fromStream: (wanted: string) => from((stream) => stream === wanted),
  };
};

const isOldFunction = (given: unknown): given is Handler =>
  typeof given === "function" && Object.hasOwn(given, "prototype");

const foldOne = (
  script: Script,
  parse: (json: string) => unknown,
  states: Map<string, string>,
  event: ScriptEvent,
): string | undefined => {
  const { source = () => false, partitionOf = () => null } = script;
  const { $init = () => ({}), $any = (state: unknown) => state } = script.handlers;
  if (!source(event.stream)) return undefined;
  const partition = partitionOf(envelope(event, parse));
  if (typeof partition !== "string") return undefined;
  const before = states.get(partition) ?? serialized($init());
  states.set(partition, serialized($any(parse(before), envelope(event, parse)) ?? parse(before)));
  return partition;
};

/**
 * A state as serialized by a server.
 * @throws for NaN and Infinity, which .NET's Utf8JsonWriter refuses
 */
const serialized = (state: unknown): string =>
  JSON.stringify(state, (name, value) => {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new TypeError(`${name} is ${value}`);
  });

/**
 * @throws for data that permanently faults a projection when the script reads `data` (measured on
 * 24.2 and 26.0)
 */
const objectOf = (json: string, parse: (json: string) => unknown): unknown => {
  const data = parse(json);
  if (data === null || typeof data === "string") throw new TypeError("the event's data is no object");
  return data;
};

const envelope = ({ id, type, stream, revision, json }: ScriptEvent, parse: (json: string) => unknown) => ({
  eventId: id,
  eventType: type,
  streamId: stream,
  sequenceNumber: revision,
  isJson: json !== undefined,
  get data() {
    return json === undefined ? undefined : objectOf(json, parse);
  },
  get body() {
    return json === undefined ? undefined : objectOf(json, parse);
  },
  bodyRaw: json ?? "",
  metadata: {},
});
