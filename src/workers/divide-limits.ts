import { sleep } from "../async/sleep.ts";
import { backgroundTime, type Time } from "../async/time.ts";
import { type LimitCalls, type LimitedKey, type ShareCalls, usualShare } from "./limit-shares.ts";
import type { Handlers, Port, Protocol } from "./port.ts";

type WorkerPort = Pick<Port<ShareCalls, Protocol>, "call" | "post">;

/** A worker, with its usual share of each limit, or none before another one has ended. */
interface Member {
  readonly port: WorkerPort;
  hasShares: boolean;
}

/** A limit of a key of which a worker has asked for more than its usual share. */
interface Divided extends LimitedKey {
  atMost: number;
  /** Those that differ from the usual one. */
  readonly shares: Map<Member, number>;
  /** Changes run one after the other. */
  changing: Promise<void>;
  askedAt: number;
}

/** After this time without a question, the workers get their usual shares again. */
const idleMs = 60_000;

const recallTimeoutMs = 1_000;

interface DivisionOptions {
  /** Of workers that serve at the same time. */
  readonly workers: number;
  readonly time?: Time;
}

/**
 * Divides limits among workers. Each has a usual share, of which it need not ask. One that has used
 * its share up gets a part of what no worker has; if there is none, the others first return what
 * they have not used. So no key gets more than its limit, nor less because of how its connections
 * are spread.
 */
export const createLimitDivision = ({ workers, time = backgroundTime }: DivisionOptions) => {
  const { now } = time;
  const members = new Set<Member>();
  const divided = new Map<string, Divided>();

  const shareOf = ({ shares, atMost }: Divided, member: Member): number =>
    shares.get(member) ?? (member.hasShares ? usualShare(atMost, workers) : 0);

  /** What no worker has. */
  const spareOf = (one: Divided): number =>
    [...members].reduce((spare, member) => spare - shareOf(one, member), one.atMost);

  const find = ({ limit, key, atMost }: LimitedKey & { readonly atMost: number }): Divided => {
    const name = `${limit} ${key}`;
    const known = divided.get(name);
    if (known) return known;
    const opened: Divided = {
      ...{ limit, key, atMost },
      shares: new Map(),
      changing: Promise.resolve(),
      askedAt: now(),
    };
    divided.set(name, opened);
    return opened;
  };

  /**
   * Lowers the shares of these workers to what they use, but not below `least`. One that does not
   * respond in time keeps its share.
   */
  const recall = async (one: Divided, from: readonly Member[], least: number): Promise<void> => {
    const { limit, key, atMost } = one;
    const returned = from.map(async (member) => {
      const share = await member.port.call("yieldShare", { limit, key, atMost, least });
      if (members.has(member)) one.shares.set(member, share);
    });
    const late = new AbortController();
    const timeout = sleep(recallTimeoutMs, { time, signal: late.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(returned), timeout]);
    late.abort();
  };

  const grant = async (one: Divided, member: Member, wanted: number): Promise<void> => {
    const { limit, key } = one;
    const others = [...members].filter((other) => other !== member && shareOf(one, other) > 0);
    if (spareOf(one) < wanted) await recall(one, others, 0);
    if (!members.has(member)) return;
    const spare = Math.max(0, spareOf(one));
    const part = Math.min(spare, Math.max(wanted, Math.ceil(spare / workers)));
    const share = shareOf(one, member) + part;
    one.shares.set(member, share);
    // Before the response, so that it is in order with later recalls.
    member.port.post("setShare", { limit, key, share });
  };

  const change = (one: Divided, run: () => Promise<void>): Promise<void> => {
    one.changing = one.changing.then(run);
    return one.changing;
  };

  /** The usual shares again, unless a worker uses more than that. */
  const forget = async (name: string, one: Divided): Promise<void> => {
    const usual = usualShare(one.atMost, workers);
    await recall(one, [...members], usual);
    const isIdle = now() - one.askedAt >= idleMs;
    if (!isIdle || [...members].some((member) => shareOf(one, member) > usual)) return;
    divided.delete(name);
    const { limit, key } = one;
    for (const { port } of members) port.post("setShare", { limit, key, share: undefined });
  };

  /** Gives usual shares to a worker, if another one has ended. */
  const giveShares = (): void => {
    const having = [...members].filter(({ hasShares }) => hasShares).length;
    const next = [...members].find(({ hasShares }) => !hasShares);
    if (!next || having >= workers) return;
    for (const one of divided.values()) {
      const share = shareOf(one, next); // others may have what would be its usual one
      one.shares.set(next, share);
      next.port.post("setShare", { limit: one.limit, key: one.key, share });
    }
    next.hasShares = true;
    next.port.post("haveShares", undefined);
    giveShares();
  };

  return {
    /** The calls of one worker, and the functions to call when it serves and has ended. */
    serve: (port: WorkerPort) => {
      const member: Member = { port, hasShares: false };
      let isEnded = false;
      const begin = (): void => {
        if (isEnded || members.has(member)) return;
        members.add(member);
        giveShares();
      };
      const handlers: Handlers<LimitCalls> = {
        askForShare: async ({ wanted, ...asked }) => {
          begin();
          const one = find(asked);
          one.askedAt = now();
          await change(one, async () => {
            one.atMost = asked.atMost;
            await grant(one, member, wanted);
          });
        },
      };
      return {
        handlers,
        begin,
        end: (): void => {
          isEnded = true;
          members.delete(member);
          for (const { shares } of divided.values()) shares.delete(member);
          giveShares();
        },
      };
    },
    /** Call it regularly. */
    forgetIdle: async (): Promise<void> => {
      for (const [name, one] of divided)
        if (now() - one.askedAt >= idleMs) await change(one, () => forget(name, one));
    },
  };
};
