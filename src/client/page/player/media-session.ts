import type { Reading } from "./reading.ts";

const skipSeconds = 10;

type Handlers = Partial<Record<MediaSessionAction, (details: MediaSessionActionDetails) => void>>;

/** A page has one session. Another article that starts takes it over before this one has ended. */
let shown: Reading | undefined;

/** Shows the reading on lock screens and among the system's media controls, and obeys these. */
export const showMediaSession = (reading: Reading, article: Element, signal: AbortSignal): (() => void) => {
  const session = navigator.mediaSession;
  if (!session) return () => {};
  const handlers: Handlers = {
    play: () => reading.play(),
    pause: () => reading.pause(),
    stop: () => reading.stop(),
    previoustrack: () => reading.skipParagraphs(-1),
    nexttrack: () => reading.skipParagraphs(1),
    seekto: ({ seekTime = 0 }) => reading.seekToSeconds(seekTime),
    seekbackward: ({ seekOffset }) => reading.seekToSeconds(reading.seconds - (seekOffset ?? skipSeconds)),
    seekforward: ({ seekOffset }) => reading.seekToSeconds(reading.seconds + (seekOffset ?? skipSeconds)),
  };
  const show = (): void => {
    shown = reading;
    session.metadata = new MediaMetadata(metadataOf(article));
    setHandlers(session, handlers);
  };
  const hide = (): void => {
    if (shown !== reading) return;
    shown = undefined;
    session.metadata = null;
    session.playbackState = "none";
    setPosition(session);
    setHandlers(session, Object.fromEntries(Object.keys(handlers).map((action) => [action, null])));
  };
  signal.addEventListener("abort", hide);
  return () => {
    if (!reading.isActive) return hide();
    if (shown !== reading) show();
    session.playbackState = reading.status === "paused" ? "paused" : "playing";
    setPosition(session, reading);
  };
};

/** A browser throws for an action that it does not know. */
const setHandlers = (session: MediaSession, handlers: Record<string, Handlers["play"] | null>): void => {
  for (const [action, handler] of Object.entries(handlers)) {
    try {
      session.setActionHandler(action as MediaSessionAction, handler ?? null);
    } catch {
      // the system's controls lack this button
    }
  }
};

/** The system's clock runs by itself from here, so it is set again and again. */
const setPosition = (session: MediaSession, reading?: Reading): void => {
  try {
    session.setPositionState(
      reading && {
        duration: Math.max(reading.totalSeconds, reading.seconds),
        position: reading.seconds,
        playbackRate: reading.speed,
      },
    );
  } catch {
    // an older browser, or values that it refuses
  }
};

const metadataOf = (article: Element): MediaMetadataInit => {
  const artwork = artworkOf(article);
  return {
    title: article.querySelector("h1, h2")?.textContent?.trim() || document.title,
    artist: contentOf("og:site_name") ?? location.hostname,
    ...(artwork !== undefined && { artwork: [{ src: artwork }] }),
  };
};

const contentOf = (property: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[property="${property}"]`)?.content || undefined;

const artworkOf = (article: Element): string | undefined => {
  const address = contentOf("og:image") ?? article.querySelector("img")?.currentSrc;
  const url =
    address && URL.canParse(address, document.baseURI) ? new URL(address, document.baseURI) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
};
