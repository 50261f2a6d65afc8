import { randomUUID } from "node:crypto";
import type { ReadReq } from "@eventstore/db-client/generated/streams_pb.js";
import type { EventLog } from "./event-log.ts";
import type { LoggedEvent } from "./logged-event.ts";
import {
  caughtUp,
  checkpointAt,
  confirmation,
  firstOf,
  type ReadCall,
  toResponse,
  write,
} from "./read-responses.ts";

/** Events between two checkpoints, to be multiplied by the client's factor. */
const defaultSearchWindow = 32;

/**
 * A subscription to $all. With a filter it sends checkpoints; it sends the caught-up message once,
 * when it first reaches the end.
 */
export const follow = async (
  log: EventLog,
  call: ReadCall,
  options: ReadReq.Options,
  isOpen: () => boolean,
  countDelivered: () => void,
): Promise<void> => {
  const passes = filterOf(options);
  const checkpointEvery = checkpointInterval(options);
  let after = startOf(log, options, passes);
  const next = (): LoggedEvent | undefined => log.firstAt(after + 1);
  let considered = 0;
  let live = false;
  await write(call, confirmation(randomUUID()));
  while (isOpen()) {
    const event = next();
    if (event === undefined) {
      if (!live) await write(call, caughtUp());
      live = true;
      if (next() === undefined) await firstOf(call, [], log.onIndexed);
      continue;
    }
    after = event.position;
    considered += 1;
    if (passes(event)) {
      countDelivered();
      await write(call, toResponse(event));
    }
    if (checkpointEvery > 0 && considered % checkpointEvery === 0) {
      await write(call, checkpointAt(event.position));
    }
  }
};

/**
 * The position to start after, -1 for the beginning. With a filter, skips the first matching event
 * at or after the requested position, like servers of 23.10, even if it is not at that position.
 */
const startOf = (
  log: EventLog,
  options: ReadReq.Options,
  passes: (event: LoggedEvent) => boolean,
): number => {
  const all = options.getAll();
  if (all?.hasEnd()) return log.all.at(-1)?.position ?? -1;
  if (!all?.hasPosition()) return -1;
  const requested = Number(all.getPosition()?.getCommitPosition());
  if (!options.hasFilter()) return requested;
  for (let index = log.indexAt(requested); index < log.all.length; index += 1) {
    const event = log.all[index];
    if (event && passes(event)) return event.position;
  }
  return requested;
};

const filterOf = (options: ReadReq.Options): ((event: LoggedEvent) => boolean) => {
  const filter = options.getFilter();
  if (!filter) return () => true;
  const byStream = filter.getStreamIdentifier();
  const expression = byStream ?? filter.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  const pattern = new RegExp(expression?.getRegex() ?? "");
  return ({ stream, type }) => {
    const text = byStream ? stream : type;
    return prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : pattern.test(text);
  };
};

const checkpointInterval = (options: ReadReq.Options): number => {
  const filter = options.getFilter();
  if (!filter) return 0;
  const window = filter.hasMax() ? filter.getMax() : defaultSearchWindow;
  return window * filter.getCheckpointintervalmultiplier();
};
