import { Unavailable } from "../../domain/errors.ts";
import type { JournalWriter } from "./journal/journal-writer.ts";
import type { Reservations } from "./quota/reservations.ts";
import type { Postings } from "./usage-accounts/postings.ts";

/**
 * One life of this process in the ledger, from the opening of a journal to its end. It holds everything that belongs to
 * that journal; nothing of it is used for the next one. A process that continues after its journal was closed starts its
 * next incarnation.
 */
export interface Incarnation {
  readonly writer: JournalWriter;
  readonly reservations: Reservations;
  readonly postings: Postings;
  /** Ends all repeated work on the journal, because the process ends. */
  stop(): void;
}

/** The journals of this process, one after the other. */
export interface Incarnations {
  /** Undefined before the first one is open, and after one was fenced or closed. */
  readonly current: Incarnation | undefined;
  /** Entries that are not durable yet, those of journals that are being closed included. */
  readonly pending: number;
  /** Voids and ends of streams among them. */
  readonly backgroundEntries: number;
  /** The current one; opens one if there is none. @throws {Unavailable} */
  open(): Promise<Incarnation>;
  /** Call it when the journal was or must be closed. Closes, posts and retires it in the background. The next request opens a new one. */
  discard(incarnation: Incarnation): void;
  /**
   * Closes the current one: records what is pending, returns reserved characters, posts, and retires the journal. Resolves
   * when no journal is being closed any more.
   */
  close(reason: "shutdown" | "idle"): Promise<void>;
  /** Ends all repeated work on journals that could not be closed in time, and opens no further one. */
  stop(): void;
}

export interface IncarnationsOptions {
  /** Registers a new journal. @throws {Unavailable} */
  readonly create: () => Promise<Incarnation>;
  /** Closes a journal against its writer. Idempotent. @throws {Unavailable} */
  readonly fence: (journal: string) => Promise<unknown>;
  /** Removes a closed and posted journal from the list of open ones. */
  readonly retire: (journal: string) => Promise<void>;
  readonly onError: (what: string, error: unknown) => void;
}

type Close = (incarnation: Incarnation) => Promise<unknown>;

export const createIncarnations = ({ create, fence, retire, onError }: IncarnationsOptions): Incarnations => {
  let current: Incarnation | undefined;
  let isStopped = false;
  let opening: Promise<Incarnation> | undefined;
  const ended = new WeakSet<Incarnation>();
  const ending = new Map<Incarnation, Promise<void>>();

  const start = async (): Promise<Incarnation> => {
    try {
      const created = await create();
      if (isStopped) {
        created.stop();
        throw new Unavailable("The service is shutting down.", 2);
      }
      current = created;
      return current;
    } finally {
      opening = undefined;
    }
  };

  /** Once for each. A journal that is not closed or not posted completely is recovered by a later sweep. */
  const end = (incarnation: Incarnation, close: Close): void => {
    if (current === incarnation) current = undefined;
    if (ended.has(incarnation)) return;
    ended.add(incarnation);
    const closing = endWith(incarnation, close, { retire, onError }).finally(() =>
      ending.delete(incarnation),
    );
    ending.set(incarnation, closing);
  };

  const sumOfWriters = (count: "pending" | "backgroundEntries"): number => {
    let sum = current?.writer[count] ?? 0;
    for (const { writer } of ending.keys()) sum += writer[count];
    return sum;
  };

  return {
    get current() {
      return current;
    },
    get pending() {
      return sumOfWriters("pending");
    },
    get backgroundEntries() {
      return sumOfWriters("backgroundEntries");
    },
    open: async () => {
      if (current) return current;
      opening ??= start();
      return await opening;
    },
    discard: (incarnation) =>
      end(incarnation, async ({ writer }) => {
        await fence(writer.journal);
        await writer.close("idle"); // It finds the journal closed, and hands over what is lost.
      }),
    close: async (reason) => {
      await opening?.catch(() => {});
      if (current) end(current, (incarnation) => closeInOrder(incarnation, reason));
      await Promise.all(ending.values());
    },
    stop: () => {
      isStopped = true;
      current?.stop();
      for (const incarnation of ending.keys()) incarnation.stop();
    },
  };
};

const endWith = async (
  incarnation: Incarnation,
  close: Close,
  { retire, onError }: Pick<IncarnationsOptions, "retire" | "onError">,
): Promise<void> => {
  const { writer, postings } = incarnation;
  try {
    await close(incarnation);
    await postings.close();
    await retire(writer.journal);
  } catch (error) {
    postings.stop();
    onError(`the journal ${writer.journal} could not be closed`, error);
  }
};

const closeInOrder = async (
  { writer, reservations }: Incarnation,
  reason: "shutdown" | "idle",
): Promise<void> => {
  // A flush may add voids, of servings that came too late. The returned totals exclude them.
  while (writer.pending > 0) await writer.flushed();
  await reservations.close();
  await writer.close(reason);
};
