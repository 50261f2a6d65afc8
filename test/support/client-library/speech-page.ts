import type { Page } from "playwright-core";

/** A page that speaks by the client library and keeps its events; `given` is the environment, in JavaScript. */
export const speechPage = (
  script: string,
  config: object,
  then = "",
  given = "{ audio }",
): string => `<!doctype html>
<title>A website</title>
<button id="speak">Speak</button>
<script type="module">
  import { Voxledger } from "${script}";
  window.audio = new Audio();
  window.asked = 0;
  window.speech = new Voxledger(${JSON.stringify(config)}, ${given});
  window.told = [];
  for (const kind of ["OnReady", "OnStart", "OnEnd", "OnError", "OnPause", "OnResume", "OnAllowSpeechClicked"]) {
    speech.on(kind, (event) => told.push(event));
  }
  speak.onclick = () => { window.spoken = speech.speak(window.text, window.params); };
  ${then}
</script>`;

/** The window of such a page. */
export interface SpeechWindow {
  readonly told: readonly { readonly type: string; readonly code?: string; readonly cancelled?: boolean }[];
  readonly audio: {
    currentTime: number;
    readonly duration: number;
    readonly paused: boolean;
    readonly buffered: { readonly length: number; start(index: number): number; end(index: number): number };
  };
  readonly speech: {
    speak(text: string, params: object): Promise<unknown>;
    pause(): void;
    resume(): void;
    cancel(): void;
  };
  spoken?: Promise<unknown>;
  text: string;
  params: object;
}
declare const window: SpeechWindow;

/** Presses the button, as a user would. */
export const clickSpeak = async (page: Page, text: string, params: object = {}): Promise<void> => {
  await page.evaluate(
    (wanted) => {
      Object.assign(window, wanted);
    },
    { text, params },
  );
  await page.click("#speak");
};

export const waitForEvent = async (page: Page, kind: string): Promise<void> => {
  await page.waitForFunction((wanted) => window.told?.some(({ type }) => type === wanted), kind);
};

export const eventTypes = (page: Page): Promise<string[]> =>
  page.evaluate(() => window.told.map(({ type }) => type));

/** Resolves when so many seconds of the sound have been heard. */
export const waitForPlayback = async (page: Page, seconds: number): Promise<void> => {
  await page.waitForFunction((past) => window.audio.currentTime > past, seconds);
};
