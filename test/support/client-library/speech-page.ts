import type { Page } from "playwright-core";
import type { EventKind } from "../../../src/client/voxledger.ts";
import { tenTimesASecond } from "../browser.ts";
import { eventKinds } from "./recorded-events.ts";

/**
 * A page that speaks with the client library when its button is clicked, and records events and
 * played audio. `script` is appended to its module; `environment` is the second argument of the
 * constructor, in JavaScript.
 */
export const speechPage = (
  clientUrl: string,
  config: object,
  { script = "", environment = "{ audio }" } = {},
): string => `<!doctype html>
<title>A website</title>
<button id="speak">Speak</button>
<script type="module">
  import { Voxledger } from "${clientUrl}";
  window.audio = new Audio();
  window.questions = 0;
  window.events = [];
  window.played = [];
  window.speech = new Voxledger(${JSON.stringify(config)}, ${environment});
  for (const kind of ${JSON.stringify(eventKinds)}) speech.on(kind, (event) => events.push(event));
  audio.addEventListener("ended", () => played.push({ duration: audio.duration, position: audio.currentTime }));
  speak.onclick = () => { window.spoken = speech.speak(window.text, window.params); };
  ${script}
</script>`;

export interface RecordedEvent {
  readonly type: EventKind;
  readonly [member: string]: unknown;
}

/** The globals of a speech page. */
export interface SpeechWindow {
  readonly events: readonly RecordedEvent[];
  /** Duration and position in seconds when audio has ended. */
  readonly played: readonly { readonly duration: number; readonly position: number }[];
  readonly audio: {
    currentTime: number;
    readonly paused: boolean;
    readonly playbackRate: number;
    readonly volume: number;
    readonly buffered: { readonly length: number; start(index: number): number; end(index: number): number };
  };
  readonly speech: {
    speak(text: string, params?: object): Promise<unknown>;
    pause(): void;
    resume(): void;
    cancel(): void;
    verifyOrigin(token: string): Promise<unknown>;
    reportVoices(): Promise<{ readonly count: number }>;
  };
  spoken: Promise<unknown>;
  text: string;
  params: object;
}
declare const window: SpeechWindow;

/** Sets the text and clicks the button, as a user would. */
export const clickSpeak = async (page: Page, text: string, params: object = {}): Promise<void> => {
  await page.evaluate(
    (globals) => {
      Object.assign(window, globals);
    },
    { text, params },
  );
  await page.click("#speak");
};

export const waitForEvent = async (page: Page, kind: EventKind, count = 1): Promise<void> => {
  await page.waitForFunction(
    ([type, minimum]) => window.events?.filter((event) => event.type === type).length >= Number(minimum),
    [kind, count],
    tenTimesASecond,
  );
};

export const recordedEvents = (page: Page): Promise<readonly RecordedEvent[]> =>
  page.evaluate(() => window.events);

export const eventTypes = async (page: Page): Promise<string[]> =>
  (await recordedEvents(page)).map(({ type }) => type);

/** Leaves out the events of parts, voices and clicks. */
export const mainEventTypes = async (page: Page): Promise<string[]> =>
  (await eventTypes(page)).filter((type) => !/Load|Part|VoiceResolved|ServiceSwitched|ClickEvent/.test(type));

/** Resolves when the audio has been played beyond this position. */
export const waitForPlayback = async (page: Page, seconds: number): Promise<void> => {
  await page.waitForFunction((position) => window.audio.currentTime > position, seconds, tenTimesASecond);
};
