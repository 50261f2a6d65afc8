/** The state of one thing that the service depends on. */
export interface ComponentHealth {
  readonly status: "ok" | "down";
  /** What is wrong or worth knowing, in words that tell no secrets. */
  readonly detail?: string;
}

/** `ok`: everything works; `degraded`: synthesis works without something; `down`: it does not. */
export interface Health {
  readonly status: "ok" | "degraded" | "down";
  readonly parts: Readonly<Record<string, ComponentHealth>>;
}

/** Looks at one part; a rejection's message becomes the detail. */
export interface Check {
  readonly name: string;
  /** Whether nothing can be served without it. */
  readonly critical: boolean;
  readonly probe: () => Promise<void>;
  /** What is worth knowing of a part that is well. */
  readonly note?: () => string | undefined;
  /** For so long a part that was well is taken to be: where each look costs somebody something. Default 0. */
  readonly cacheMs?: number;
}

/** Resolves with the report; who asks while one is being made, or shortly after, shares it. Never rejects. */
export type CheckHealth = () => Promise<Health>;

export const createHealth = ({
  checks,
  uptime = () => performance.now(),
  patienceMs = 2_000,
  freshMs = 500,
}: {
  checks: readonly Check[];
  /** Milliseconds that never go back. */
  uptime?: () => number;
  /** A part that does not answer within this counts as down. */
  patienceMs?: number;
  /** A report serves for so long: asking costs no more than that, whoever asks. */
  freshMs?: number;
}): CheckHealth => {
  const cachedUntil = new Map<string, number>();
  let last: Promise<Health> | undefined;
  let staleAt = Number.POSITIVE_INFINITY; // while it is being made

  const checkOne = async ({ name, probe, note, cacheMs = 0 }: Check): Promise<ComponentHealth> => {
    const isGood = uptime() < (cachedUntil.get(name) ?? 0);
    const found: ComponentHealth = isGood ? { status: "ok" } : await runProbe(probe, patienceMs);
    if (found.status === "down") return found;
    if (!isGood) cachedUntil.set(name, uptime() + cacheMs);
    const detail = note?.();
    return detail === undefined ? found : { status: "ok", detail };
  };

  const checkAll = async (): Promise<Health> => {
    const found = await Promise.all(
      checks.map(async (check): Promise<[string, ComponentHealth]> => [check.name, await checkOne(check)]),
    );
    const down = checks.filter((_, index) => found[index]?.[1].status === "down");
    const status = down.length === 0 ? "ok" : down.some(({ critical }) => critical) ? "down" : "degraded";
    return { status, parts: Object.fromEntries(found) };
  };

  return () => {
    if (last && uptime() < staleAt) return last;
    staleAt = Number.POSITIVE_INFINITY;
    last = checkAll().finally(() => {
      staleAt = uptime() + freshMs;
    });
    return last;
  };
};

const runProbe = async (look: () => Promise<void>, patienceMs: number): Promise<ComponentHealth> => {
  const patience = Promise.withResolvers<never>();
  const timer = setTimeout(() => patience.reject(new Error("no answer in time")), patienceMs);
  try {
    await Promise.race([look(), patience.promise]);
    return { status: "ok" };
  } catch (error) {
    return { status: "down", detail: error instanceof Error ? error.message : "unknown" };
  } finally {
    clearTimeout(timer);
  }
};
