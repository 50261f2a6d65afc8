/** A hook and a component for React. */

import { createElement, type ReactElement, useCallback, useEffect, useRef, useState } from "react";
import type { SpeakParams, SpeechResult, VoxledgerConfig } from "../voxledger.ts";
import { defineListenElement, listenTag } from "./listen-element.ts";
import { attributesOf, type PlayerOptions } from "./player-options.ts";
import {
  createSpeechControl,
  type OpenSpeechControl,
  type SpeechControl,
  type SpeechStatus,
} from "./speech-control.ts";

export type { PlayerOptions, SpeechControl, SpeechStatus };

export interface Speech extends SpeechControl {
  readonly status: SpeechStatus;
}

/** Speaks for a component, until it is unmounted. On a server it does nothing. */
export const useVoxledger = (config: VoxledgerConfig): Speech => {
  const [status, setStatus] = useState<SpeechStatus>("idle");
  const control = useRef<OpenSpeechControl>(undefined);
  const options = JSON.stringify(config);
  useEffect(() => {
    const created = createSpeechControl(JSON.parse(options), setStatus);
    control.current = created;
    return () => {
      created.close();
      control.current = undefined;
      setStatus("idle");
    };
  }, [options]);
  const speak = useCallback(async (text: string, params?: SpeakParams): Promise<SpeechResult> => {
    if (!control.current) throw new Error("speak can be called once the component is mounted.");
    return await control.current.speak(text, params);
  }, []);
  return {
    status,
    speak,
    pause: useCallback(() => control.current?.pause(), []),
    resume: useCallback(() => control.current?.resume(), []),
    cancel: useCallback(() => control.current?.cancel(), []),
  };
};

/** The player of an article, where the component is. */
export const VoxledgerPlayer = (options: PlayerOptions): ReactElement => {
  defineListenElement();
  return createElement(listenTag, attributesOf(options));
};
