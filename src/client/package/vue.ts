/** A composable and a component for Vue. */

import { type FunctionalComponent, h, onBeforeUnmount, onMounted, type Ref, readonly, ref } from "vue";
import type { VoxledgerConfig } from "../voxledger.ts";
import {
  attributesOf,
  defineListenElement,
  type ListenOptions,
  listenOptions,
  listenTag,
} from "./listen-element.ts";
import {
  createSpeechControl,
  NotMounted,
  type OpenSpeechControl,
  type SpeechControl,
  type SpeechStatus,
} from "./speech-control.ts";

export type { ListenOptions, SpeechControl, SpeechStatus };

export interface Speech extends SpeechControl {
  readonly status: Readonly<Ref<SpeechStatus>>;
}

/**
 * Speaks for a component, until it is unmounted. On a server it does nothing. Later changes of the
 * options have no effect.
 */
export const useVoxledger = (config: VoxledgerConfig): Speech => {
  const status = ref<SpeechStatus>("idle");
  let control: OpenSpeechControl | undefined;
  onMounted(() => {
    control = createSpeechControl(config, (now) => {
      status.value = now;
    });
  });
  onBeforeUnmount(() => {
    control?.close();
    control = undefined;
  });
  return {
    status: readonly(status),
    speak: (text, params) => control?.speak(text, params) ?? Promise.reject(new NotMounted()),
    pause: () => control?.pause(),
    resume: () => control?.resume(),
    cancel: () => control?.cancel(),
  };
};

/** The player of an article, where the component is. */
export const VoxledgerPlayer: FunctionalComponent<ListenOptions> = (options) => {
  defineListenElement();
  return h(listenTag, attributesOf(options));
};

VoxledgerPlayer.props = [...listenOptions];
