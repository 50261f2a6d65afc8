import type { SpeakParams, SpeechResult, VoxledgerConfig } from "../voxledger.ts";
import { shareClient } from "./shared-clients.ts";

/** A component can speak while it is mounted. */
export class NotMounted extends Error {
  override readonly name = "NotMounted";

  constructor() {
    super("A component can speak while it is mounted.");
  }
}

export type SpeechStatus = "idle" | "speaking" | "paused";

/** The speech of one component. It pauses and cancels only what the component speaks. */
export interface SpeechControl {
  /**
   * Speaks the text, and cancels the speech of all components with the same options. A rejection
   * need not be handled, unless the component is not mounted.
   */
  speak(text: string, params?: SpeakParams): Promise<SpeechResult>;
  pause(): void;
  resume(): void;
  cancel(): void;
}

export interface OpenSpeechControl extends SpeechControl {
  /** Cancels the speech. */
  close(): void;
}

/** @throws {TypeError} for invalid options */
export const createSpeechControl = (
  config: VoxledgerConfig,
  onStatus: (status: SpeechStatus) => void,
): OpenSpeechControl => {
  const { voxledger, release } = shareClient(config);
  let current: Promise<SpeechResult> | undefined;
  const ifCurrent = (act: () => void): void => {
    if (current) act();
  };
  const stops = [
    voxledger.on("OnPause", () => ifCurrent(() => onStatus("paused"))),
    voxledger.on("OnResume", () => ifCurrent(() => onStatus("speaking"))),
  ];
  const cancel = (): void => ifCurrent(() => voxledger.cancel());
  return {
    speak: (text, params) => {
      const speech = voxledger.speak(text, params);
      const end = (): void => {
        if (current !== speech) return;
        current = undefined;
        onStatus("idle");
      };
      current = speech;
      onStatus("speaking");
      speech.then(end, end);
      return speech;
    },
    pause: () => ifCurrent(() => voxledger.pause()),
    resume: () => ifCurrent(() => voxledger.resume()),
    cancel,
    close: () => {
      cancel();
      current = undefined;
      for (const stop of stops) stop();
      release();
    },
  };
};
