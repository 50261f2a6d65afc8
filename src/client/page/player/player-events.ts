import type { PageContext } from "../feature.ts";
import type { Reading } from "./reading.ts";
import type { ReadingStatus } from "./reading-status.ts";

/** The state of a player. Times are seconds at normal speed. */
export interface PlayerState {
  readonly status: ReadingStatus;
  /** The share of the article that was read, from 0 to 1. */
  readonly progress: number;
  readonly seconds: number;
  readonly totalSeconds: number;
  /** The number of the current paragraph, from 1. */
  readonly paragraph: number;
  readonly paragraphCount: number;
  readonly speed: number;
}

/** The details of the events, by the part of their type after `voxledger:`. */
export interface PlayerEvents {
  /** The article is audible, after a click on "Listen" or after an end. */
  readonly start: PlayerState;
  /** At most once a second while the article is audible. */
  readonly progress: PlayerState;
  /** The article was read to its end, or stopped. */
  readonly end: PlayerState & { readonly completed: boolean };
  readonly error: PlayerState & { readonly message: string; readonly code?: string };
}

/** Controls a player. It is the property `player` of the player's element. */
export interface PlayerHandle {
  readonly state: PlayerState;
  /** Starts or resumes. Browsers may allow the first call only in a click. */
  play(): void;
  pause(): void;
  stop(): void;
  /** Goes to the word that is spoken at this second. */
  seek(seconds: number): void;
  /** @throws {RangeError} unless it is 0.25 to 4 */
  setSpeed(speed: number): void;
}

const stateOf = (reading: Reading): PlayerState => {
  const { status, progress, seconds, totalSeconds, paragraph, paragraphCount, speed } = reading;
  return { status, progress, seconds, totalSeconds, paragraph: paragraph + 1, paragraphCount, speed };
};

export const createPlayerHandle = (reading: Reading): PlayerHandle => ({
  get state() {
    return stateOf(reading);
  },
  play: () => reading.play(),
  pause: () => reading.pause(),
  stop: () => reading.stop(),
  seek: (seconds) => reading.seekToSeconds(Number(seconds) || 0),
  setSpeed: (speed) => {
    if (!(speed >= 0.25 && speed <= 4)) throw new RangeError(`speed must be 0.25 to 4, not ${speed}.`);
    reading.setSpeed(speed);
  },
});

const progressEveryMs = 1_000;

type Send = <Kind extends keyof PlayerEvents>(kind: Kind, detail: PlayerEvents[Kind]) => void;

/**
 * Dispatches the events at the player's element. With `analytics` they are also in the page's
 * `dataLayer`. Returns a function to be called after each change of the reading.
 */
export const dispatchEvents = (
  reading: Reading,
  host: HTMLElement,
  { voxledger, analytics, signal }: Pick<PageContext, "voxledger" | "analytics" | "signal">,
): (() => void) => {
  const pushToDataLayer = analytics ? dataLayer() : undefined;
  const send: Send = (kind, detail) => {
    host.dispatchEvent(new CustomEvent(`voxledger:${kind}`, { detail, bubbles: true, composed: true }));
    pushToDataLayer?.(kind, detail);
  };
  let error: { readonly message: string; readonly code?: string } = { message: "" };
  let completed = false;
  const removers = [
    voxledger.on("OnError", ({ message, code }) => {
      error = { message, ...(code !== undefined && { code }) };
    }),
    voxledger.on("OnEnd", ({ cancelled }) => {
      completed = !cancelled;
    }),
  ];
  signal.addEventListener("abort", () => {
    for (const remove of removers) remove();
  });
  let last = stateOf(reading);
  let isStarted = false;
  let sentAt = 0;
  return () => {
    const state = stateOf(reading);
    const { status } = state;
    // At its end, the reading has already gone back to the beginning.
    const ended = { ...last, status, ...(completed && { progress: 1, seconds: last.totalSeconds }) };
    const isFailed = !reading.isActive && status !== "idle";
    if (isFailed && last.status !== status) send("error", { ...state, ...error });
    if (status === "idle" && isStarted) send("end", { ...ended, completed });
    if (status === "playing" && !isStarted) send("start", state);
    if (status === "playing" && performance.now() - sentAt >= progressEveryMs) {
      sentAt = performance.now();
      send("progress", state);
    }
    isStarted = status === "playing" || (isStarted && reading.isActive);
    last = state;
  };
};

/**
 * The list of events that tag managers read. It gets no text of the article, and of the progress
 * only each quarter that a reading has passed for the first time.
 */
const dataLayer = (): Send => {
  let quarter = 0;
  return (kind, detail) => {
    const passed = Math.floor(detail.progress * 4);
    if (kind === "start") quarter = passed;
    if (kind === "progress" && passed <= quarter) return;
    quarter = Math.max(quarter, passed);
    const { message: _, ...voxledger } = { message: "", ...detail };
    const page = globalThis as { dataLayer?: unknown[] };
    page.dataLayer ??= [];
    page.dataLayer.push({ event: `voxledger_${kind}`, voxledger });
  };
};
