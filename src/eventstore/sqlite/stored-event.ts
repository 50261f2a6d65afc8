import type { NewEvent } from "../event-store.ts";
import { maxEventBytes, stringifyObject, validateEventIds } from "../event-validation.ts";

/**
 * Checks the events and writes each as the JSON text that the log keeps, in `AppendRequest`'s shape.
 * @throws {TypeError} when there is none, an id is not a UUID or there twice, or data or metadata is no JSON object.
 * @throws {RangeError} when an event has more than 1 MiB.
 */
export const toStored = (events: readonly NewEvent[]): { ids: string[]; bodies: string[]; bytes: number } => {
  const ids = validateEventIds(events);
  const bodies = events.map(toBody);
  return { ids, bodies, bytes: bodies.reduce((sum, body) => sum + body.length, 0) };
};

const toBody = ({ type, data, metadata }: NewEvent): string => {
  const body = `"type":${JSON.stringify(String(type))},"data":${stringifyObject(data)},"metadata":${stringifyObject(metadata)}`;
  // UTF-8 takes at most three bytes for a unit of UTF-16: short texts need no counting.
  if (body.length * 3 > maxEventBytes && Buffer.byteLength(body) > maxEventBytes) {
    throw new RangeError(`an event has at most ${maxEventBytes} bytes`);
  }
  return body;
};
