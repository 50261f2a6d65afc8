import { eventTypes, isWellFormed } from "../../event-shapes.ts";
import { anyObject } from "../../shape.ts";
import { canonicalJson, NotCanonical, storedJson } from "../journal/canonical.ts";
import { type ProvenEvent, withheldMember } from "../seals/proven-event.ts";
import { eventLeaf } from "../seals/seal.ts";
import { type EventPlace, NotGenuine, nameOf } from "./not-genuine.ts";

/** @throws {NotGenuine} unless the event is well-formed */
export const requireForm = <E extends EventPlace>(event: E, isWellFormed: (event: E) => boolean): void => {
  if (isWellFormed(event)) return;
  throw new NotGenuine(`${nameOf(event)} is malformed, or belongs to another kind of stream`);
};

/**
 * Runs checks of an event.
 * @throws {NotGenuine} as the checks do, and for an event without a canonical form
 */
export const runChecks = (event: EventPlace, checks: () => void): void => {
  try {
    checks();
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new NotGenuine(`${nameOf(event)} was changed: ${error.message}`);
  }
};

/** True if the members that the event has are well-formed. A proof withholds some members. */
export const isWellFormedProof = (event: ProvenEvent): boolean => {
  const member = withheldMember(event.type);
  if (member === undefined || !anyObject(event.data)) return isWellFormed(event);
  const value = event.data[member];
  const isCommitted = anyObject(value) && typeof value.sha256 === "string";
  return isCommitted && isWellFormed({ ...event, data: { ...event.data, [member]: "" } });
};

const ownTypes = new Set(eventTypes);

/**
 * The leaf that the event should have in the tree.
 * @throws {NotCanonical} for an event of this service with a number that only other programs write
 */
export const verifiedLeaf = (event: ProvenEvent): Uint8Array =>
  eventLeaf(event, ownTypes.has(event.type) ? canonicalJson : storedJson);

/** An event's id is compared with the ids of at least this many earlier events. */
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
