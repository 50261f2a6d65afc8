import { formatTime } from "./elements.ts";
import type { Reading } from "./reading.ts";

/** `#t=90`, `#t=1:30` or `#t=1:02:05`; with several articles on a page, `#t=90&article=2`. */
const pattern = /^#t=((?:\d{1,2}:){0,2}\d{1,5})(?:&article=(\d{1,3}))?$/;

/** Returns the seconds that the page's address names for the article with this number, from 1. */
const linkedSeconds = (article: number): number | undefined => {
  const [, time, number = "1"] = pattern.exec(location.hash) ?? [];
  if (time === undefined || Number(number) !== article) return undefined;
  return time.split(":").reduce((seconds, part) => seconds * 60 + Number(part), 0);
};

/** Goes to the time in the page's address, now and when a link on the page changes it. */
export const followTimeLinks = (reading: Reading, article: number, signal: AbortSignal): void => {
  const follow = (): void => {
    const seconds = linkedSeconds(article);
    if (seconds !== undefined) reading.seekToSeconds(seconds);
  };
  follow();
  window.addEventListener("hashchange", follow, { signal });
};

/** The page's address at the current time of the article with this number. */
export const timeLink = (reading: Reading, article: number): string => {
  const url = new URL(location.href);
  url.hash = `t=${formatTime(Math.floor(reading.seconds))}${article === 1 ? "" : `&article=${article}`}`;
  return url.href;
};
