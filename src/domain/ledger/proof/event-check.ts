import type { ProvenEvent } from "../seals/proven-event.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";

/** An event id is compared with those of at least this many earlier events. */
const recentIds = 50_000;

/**
 * Returns a check of positions, revisions and event ids, which throws {NotGenuine}. It holds one
 * number per stream, and the most recent ids.
 */
export const createOrderCheck = () => {
  const revisions = new Map<string, number>();
  let position = -1;
  let [ids, olderIds] = [new Set<string>(), new Set<string>()];

  const checkId = (event: ProvenEvent): void => {
    if (ids.has(event.id) || olderIds.has(event.id)) {
      throw new NotGenuine(`${nameOf(event)} has the id of an earlier event: one of them was added`);
    }
    ids.add(event.id);
    if (ids.size >= recentIds) [ids, olderIds] = [new Set(), ids];
  };

  return (event: ProvenEvent): void => {
    const { stream, revision } = event;
    const expected = (revisions.get(stream) ?? -1) + 1;
    if (revision > expected) {
      throw new NotGenuine(`${stream} revision ${expected} is missing: ${nameOf(event)} follows`);
    }
    if (revision < expected) {
      throw new NotGenuine(`${nameOf(event)} was doubled or moved: revision ${expected} should follow`);
    }
    if (event.position <= position) {
      throw new NotGenuine(`${nameOf(event)} was moved: an event at position ${position} precedes it`);
    }
    checkId(event);
    revisions.set(stream, revision);
    position = event.position;
  };
};
