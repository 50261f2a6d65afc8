"use client"; // frameworks with server components render both in the browser, too

/** A hook and a component for React. */

import { createElement, type ReactElement, useCallback, useEffect, useRef, useState } from "react";
import type { SpeakParams, SpeechResult, VoxledgerConfig } from "../voxledger.ts";
import { attributesOf, defineListenElement, type ListenOptions, listenTag } from "./listen-element.ts";
import {
  createSpeechControl,
  NotMounted,
  type OpenSpeechControl,
  type SpeechControl,
  type SpeechStatus,
} from "./speech-control.ts";

export type { ListenOptions, SpeechControl, SpeechStatus };

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
  const speak = useCallback(
    (text: string, params?: SpeakParams): Promise<SpeechResult> =>
      control.current?.speak(text, params) ?? Promise.reject(new NotMounted()),
    [],
  );
  return {
    status,
    speak,
    pause: useCallback(() => control.current?.pause(), []),
    resume: useCallback(() => control.current?.resume(), []),
    cancel: useCallback(() => control.current?.cancel(), []),
  };
};

/** The player of an article, where the component is. */
export const VoxledgerPlayer = (options: ListenOptions): ReactElement => {
  defineListenElement();
  // The element may show its player before React hydrates the page. React leaves the content of an
  // element alone whose child is a text.
  return createElement(listenTag, { ...attributesOf(options), suppressHydrationWarning: true }, "");
};
