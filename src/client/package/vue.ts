/** A composable and a component for Vue. */

import { type FunctionalComponent, h, onBeforeUnmount, onMounted, type Ref, readonly, ref } from "vue";
import type { VoxledgerConfig } from "../voxledger.ts";
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
  readonly status: Readonly<Ref<SpeechStatus>>;
}

/** Speaks for a component, until it is unmounted. On a server it does nothing. */
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
    speak: async (text, params) => {
      if (!control) throw new Error("speak can be called once the component is mounted.");
      return await control.speak(text, params);
    },
    pause: () => control?.pause(),
    resume: () => control?.resume(),
    cancel: () => control?.cancel(),
  };
};

/** The player of an article, where the component is. */
export const VoxledgerPlayer: FunctionalComponent<PlayerOptions> = (options) => {
  defineListenElement();
  return h(listenTag, attributesOf(options));
};

VoxledgerPlayer.props = {
  apiKey: { type: String, required: true },
  baseUrl: String,
  article: String,
  defaultVoice: String,
  defaultLang: String,
  transport: null,
  preferNative: Boolean,
  debug: Boolean,
};
