import type { OpenShares } from "../../src/limits/shares.ts";

/**
 * Shares of limits that are empty at first, and grow by one unit each time that more is asked for,
 * so that each attempt has to ask. After `hold`, those who ask wait until `grant`.
 */
export const createAskedShares = () => {
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  let isHeld = false;
  const grantAll = (): void => {
    if (!isHeld) for (const grant of waiting.splice(0)) grant();
  };
  const open: OpenShares = (limit, _of, used) => {
    const shares = new Map<string, number>();
    return {
      of: (key, atMost) => Math.min(atMost, shares.get(key) ?? 0),
      more: (key, atMost) => {
        if (used(key) >= atMost) return undefined;
        return (retry) => {
          asked.push(limit);
          waiting.push(() => {
            shares.set(key, used(key) + 1);
            retry();
          });
          setImmediate(grantAll);
        };
      },
    };
  };
  return {
    open,
    /** The limits of which more was asked for, in this order. */
    asked,
    hold: (): void => {
      isHeld = true;
    },
    grant: (): void => {
      isHeld = false;
      grantAll();
    },
  };
};
