import { backgroundTime, type Time } from "../async/time.ts";
import { type LimitCalls, type LimitedKey, type ShareCalls, usualShare } from "./limit-shares.ts";
import type { Handlers, Port, Protocol } from "./port.ts";

type WorkerPort = Pick<Port<ShareCalls, Protocol>, "call" | "post">;

/** A worker, as the division of limits sees it. */
interface Member {
  readonly port: WorkerPort;
  /**
   * True if it has its usual share of each limit. A worker that begins while all shares are taken
   * gets its own when another worker has ended.
   */
  hasShares: boolean;
  /**
   * The number of recalls to which it has not responded in time. It gets no further ones until it
   * responds.
   */
  lateRecalls: number;
}

/** One key's limit, once a worker has asked for more of it than its usual share. */
interface Divided extends LimitedKey {
  /**
   * The shares that differ from the usual one. Units that are on their way to or from a worker
   * count as the worker's.
   */
  readonly shares: Map<Member, number>;
  /** Resolves when the last change has ended: changes run one after the other. */
  changing: Promise<void>;
  askedAt: number;
  /** The number of questions to which no grant was sent yet. */
  openAsks: number;
}

/** After this time without a question, the workers get their usual shares again. */
const idleMs = 60_000;

const recallTimeoutMs = 5_000;

/** Limits the memory: of further keys, each worker has only its usual share. */
const maxKeysPerLimit = 50_000;

interface DivisionOptions {
  /** The number of workers that serve at the same time. */
  readonly workers: number;
  readonly time?: Time;
}

/**
 * Divides limits among workers. Each worker has a usual share, which it may use without asking. A
 * worker that has used its share up gets some of the units that no worker has. If these are too
 * few, the others first return the units that they have not used. So no key gets more than its
 * limit, nor less because of how its connections are spread over the workers.
 */
export const createLimitDivision = ({ workers, time = backgroundTime }: DivisionOptions) => {
  const { now } = time;
  const members = new Set<Member>();
  const limits = new Map<string, Map<string, Divided>>();

  const usualShareOf = ({ atMost }: Divided, { hasShares }: Member): number =>
    hasShares ? usualShare(atMost, workers) : 0;

  const shareOf = (one: Divided, member: Member): number =>
    one.shares.get(member) ?? usualShareOf(one, member);

  /** Returns the number of units that no worker has. */
  const spareOf = (one: Divided): number =>
    [...members].reduce((spare, member) => spare - shareOf(one, member), one.atMost);

  /** Returns undefined if too many keys of this limit are divided already. */
  const find = ({ limit, key, atMost }: LimitedKey): Divided | undefined => {
    const name = nameOf({ limit, key, atMost });
    const keys = limits.get(limit) ?? new Map<string, Divided>();
    limits.set(limit, keys);
    const known = keys.get(name);
    if (known || keys.size >= maxKeysPerLimit) return known;
    const opened = {
      ...{ limit, key, atMost },
      shares: new Map(),
      changing: Promise.resolve(),
      askedAt: now(),
      openAsks: 0,
    };
    keys.set(name, opened);
    return opened;
  };

  /**
   * Lowers the shares of these workers to what they use, but not below `keep`. A worker that does
   * not respond in time keeps its share until it does.
   */
  const recall = async (one: Divided, from: readonly Member[], keep: number): Promise<void> => {
    const { limit, key, atMost } = one;
    const pending = new Set(from.filter(({ lateRecalls }) => lateRecalls === 0));
    const over = Promise.withResolvers<void>();
    let isTimedOut = false;
    const cancelTimeout = time.after(recallTimeoutMs, () => {
      isTimedOut = true;
      for (const member of pending) member.lateRecalls++;
      over.resolve();
    });
    const responses = Array.from(pending, async (member) => {
      const units = await member.port.call("recallShare", { limit, key, atMost, keep }).catch(() => 0);
      if (members.has(member)) one.shares.set(member, shareOf(one, member) - units);
      pending.delete(member);
      if (isTimedOut) member.lateRecalls--;
    });
    void Promise.all(responses).then(() => over.resolve());
    await over.promise;
    cancelTimeout();
  };

  const grant = async (one: Divided, member: Member, wanted: number): Promise<void> => {
    const { limit, key, atMost } = one;
    const others = [...members].filter((other) => other !== member && shareOf(one, other) > 0);
    if (spareOf(one) < wanted) await recall(one, others, 0);
    if (!members.has(member)) return;
    const spare = Math.max(0, spareOf(one));
    const units = Math.min(spare, Math.max(wanted, Math.ceil(spare / workers)));
    one.shares.set(member, shareOf(one, member) + units);
    // The grant is sent at once, so that it arrives before later recalls.
    member.port.post("grantShare", { limit, key, atMost, units, isUsedUp: units < wanted });
  };

  const isIdle = ({ openAsks, askedAt }: Divided): boolean => openAsks === 0 && now() - askedAt >= idleMs;

  const change = (one: Divided, run: () => Promise<void>): Promise<void> => {
    one.changing = one.changing.then(run);
    return one.changing;
  };

  /**
   * Gives the workers their usual shares again, unless one uses more than that, or has not
   * responded.
   */
  const forget = async (one: Divided): Promise<void> => {
    const { limit, key, atMost } = one;
    if (limits.get(limit)?.get(nameOf(one)) !== one) return; // already forgotten
    await recall(one, [...members], usualShare(atMost, workers));
    const isUsed = [...members].some((member) => shareOf(one, member) > usualShareOf(one, member));
    const isLate = [...members].some(({ lateRecalls }) => lateRecalls > 0);
    if (isUsed || isLate || !isIdle(one)) return;
    limits.get(limit)?.delete(nameOf(one));
    for (const { port } of members) port.post("forgetShare", { limit, key, atMost });
  };

  const allDivided = (): Divided[] => [...limits.values()].flatMap((keys) => [...keys.values()]);

  /** Gives usual shares to workers without shares, if others have ended. */
  const giveShares = (): void => {
    const having = [...members].filter(({ hasShares }) => hasShares).length;
    const next = [...members].find(({ hasShares }) => !hasShares);
    if (!next || having >= workers) return;
    const except = allDivided(); // other workers may have the units of its usual share
    for (const one of except) one.shares.set(next, shareOf(one, next));
    next.hasShares = true;
    next.port.post(
      "haveShares",
      except.map(({ limit, key, atMost }) => ({ limit, key, atMost })),
    );
    giveShares();
  };

  return {
    /**
     * Returns the handlers for the calls of one worker, and the functions to call when it serves
     * (`begin`) and when it has ended (`end`).
     */
    serve: (port: WorkerPort) => {
      const member: Member = { port, hasShares: false, lateRecalls: 0 };
      let isEnded = false;
      const begin = (): void => {
        if (isEnded || members.has(member)) return;
        members.add(member);
        giveShares();
      };
      const handlers: Handlers<LimitCalls> = {
        askForShare: ({ wanted, ...asked }) => {
          begin();
          if (!members.has(member)) return;
          const one = find(asked);
          if (!one) return port.post("grantShare", { ...asked, units: 0, isUsedUp: true });
          one.askedAt = now();
          one.openAsks++;
          void change(one, async () => {
            await grant(one, member, wanted);
            one.openAsks--;
          });
        },
      };
      return {
        handlers,
        begin,
        end: (): void => {
          isEnded = true;
          members.delete(member);
          for (const { shares } of allDivided()) shares.delete(member);
          giveShares();
        },
      };
    },
    /** Gives the workers their usual shares of idle keys again. Call it regularly. */
    forgetIdle: async (): Promise<void> => {
      for (const one of allDivided()) if (isIdle(one)) await change(one, () => forget(one));
    },
  };
};

const nameOf = ({ key, atMost }: LimitedKey): string => `${atMost} ${key}`;
