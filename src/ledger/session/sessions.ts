import { Unavailable } from "../../domain/errors.ts";
import type { Postings } from "../accounts/postings.ts";
import type { JournalWriter } from "../journal/journal-writer.ts";
import type { Reservations } from "../quota/reservations.ts";

/**
 * A process while it writes one journal. The session holds everything that belongs to this journal,
 * and nothing of it is used for the next journal. A process that continues after its journal was
 * closed starts another session.
 */
export interface Session {
  readonly writer: JournalWriter;
  readonly reservations: Reservations;
  readonly postings: Postings;
  /** Ends all repeated work on the journal, because the process ends. */
  stop(): void;
}

interface SessionsOptions {
  /**
   * Registers a new journal.
   * @throws {Unavailable}
   */
  readonly create: () => Promise<Session>;
  /**
   * Closes a journal whether or not its writer takes part. Idempotent.
   * @throws {Unavailable}
   */
  readonly takeOver: (journal: string) => Promise<unknown>;
  /** Settles the quotas of a closed and posted journal's last voids. */
  readonly settleVoids: (journal: string) => Promise<void>;
  /** Removes a closed and posted journal from the registry. */
  readonly forgetJournal: (journal: string) => Promise<void>;
  readonly onError: (what: string, error: unknown) => void;
}

type Close = (session: Session) => Promise<unknown>;

/** The journals of this process, one after the other. */
export class Sessions {
  readonly #options: SessionsOptions;
  #current: Session | undefined;
  #isStopped = false;
  #opening: Promise<Session> | undefined;
  readonly #ended = new WeakSet<Session>();
  readonly #ending = new Map<Session, Promise<void>>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Undefined before the first session is open, and after one was taken over or closed. */
  get current(): Session | undefined {
    return this.#current;
  }

  /**
   * The number of entries that are not durable yet, including those of journals that are being
   * closed.
   */
  get pending(): number {
    return this.#sumOfWriters("pending");
  }

  /** The number of pending voids and ends of streams. */
  get backgroundEntries(): number {
    return this.#sumOfWriters("backgroundEntries");
  }

  #sumOfWriters(count: "pending" | "backgroundEntries"): number {
    let sum = this.#current?.writer[count] ?? 0;
    for (const { writer } of this.#ending.keys()) sum += writer[count];
    return sum;
  }

  /**
   * Resolves with the current session; opens one if there is none.
   * @throws {Unavailable}
   */
  async open(): Promise<Session> {
    if (this.#current) return this.#current;
    this.#opening ??= this.#start();
    return await this.#opening;
  }

  async #start(): Promise<Session> {
    try {
      const created = await this.#options.create();
      if (this.#isStopped) {
        created.stop();
        throw new Unavailable("The service is shutting down.", 2);
      }
      this.#current = created;
      return created;
    } finally {
      this.#opening = undefined;
    }
  }

  /**
   * Call it when another process has closed the journal, or when it must be closed at once. Closes
   * the journal, posts it and removes it from the registry, in the background. The next request
   * opens a new one.
   */
  takeOver(session: Session): void {
    this.#end(session, async ({ writer }) => {
      await this.#options.takeOver(writer.journal);
      // The writer finds the journal closed, and hands over the entries that are lost.
      await writer.close("idle");
    });
  }

  /**
   * Records pending entries, closes and posts the journal, and removes it from the registry, in the
   * background. The next request opens a new one.
   */
  renew(session: Session): void {
    this.#end(session, (ended) => closeInOrder(ended, "idle"));
  }

  /**
   * Closes the current session: records pending entries, returns reserved characters, closes and
   * posts the journal, and removes it from the registry. Resolves when no journal is being closed
   * any more.
   */
  async close(reason: "shutdown" | "idle"): Promise<void> {
    await this.#opening?.catch(() => {});
    if (this.#current) this.#end(this.#current, (session) => closeInOrder(session, reason));
    await Promise.all(this.#ending.values());
  }

  /** Ends each session once. */
  #end(session: Session, close: Close): void {
    if (this.#current === session) this.#current = undefined;
    if (this.#ended.has(session)) return;
    this.#ended.add(session);
    const closing = this.#endWith(session, close).finally(() => this.#ending.delete(session));
    this.#ending.set(session, closing);
  }

  /**
   * Closes in this order, because each step needs the final result of the one before.
   * 1. The journal is closed. In `closeInOrder`, pending entries are appended first, then unspent
   *    characters are returned. In `takeOver`, nothing can be appended any more.
   * 2. The charges of the closed journal are posted to the usage accounts.
   * 3. Voids that the quota streams do not know are settled.
   * 4. The journal leaves the registry. If the process ends earlier, or a step fails, a later sweep
   *    of this or another process recovers the journal.
   */
  async #endWith(session: Session, close: Close): Promise<void> {
    const { writer, reservations, postings } = session;
    try {
      await close(session);
      await postings.close();
      if (reservations.mayOverstate) await this.#options.settleVoids(writer.journal);
      await this.#options.forgetJournal(writer.journal);
    } catch (error) {
      postings.stop();
      this.#options.onError(`the journal ${writer.journal} could not be closed, posted or settled`, error);
    }
  }

  /**
   * Ends all repeated work on journals that could not be closed in time, and opens no further one.
   */
  stop(): void {
    this.#isStopped = true;
    this.#current?.stop();
    for (const session of this.#ending.keys()) session.stop();
  }
}

const closeInOrder = async (
  { writer, reservations }: Session,
  reason: "shutdown" | "idle",
): Promise<void> => {
  // A flush may add voids of servings that became durable too late. The returned totals exclude
  // them.
  while (writer.pending > 0) await writer.flushed();
  await reservations.close();
  await writer.close(reason);
};
