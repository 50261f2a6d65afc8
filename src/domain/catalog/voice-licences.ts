/** The licence of something that speaks, or is needed to speak. */
export interface VoiceLicence {
  readonly name: string;
  /** SPDX, where there is an identifier. */
  readonly licence: string;
  /** The URL or path of its text. */
  readonly text: string;
  /** The prefixes of `SystemVoice.voiceName` that need it. */
  readonly voices: readonly string[];
}

/**
 * For each prefix, the licence of the voices comes first. The licences of other things that are
 * needed to speak them follow.
 */
export const voiceLicences: readonly VoiceLicence[] = [
  {
    name: "Kokoro-82M: weights and voices; its export",
    licence: "Apache-2.0; MIT",
    text: "voices/kokoro/LICENSE, voices/kokoro/LICENSE-export, voices/kokoro/NOTICE",
    voices: ["kokoro"],
  },
  {
    name: "hibari, its models and data",
    licence: "Apache-2.0",
    text: "voices/hibari/LICENSE, voices/hibari/NOTICE",
    voices: ["hibari", "kokoro"],
  },
  {
    name: "SVOX Pico, its data",
    licence: "Apache-2.0",
    text: "voices/pico/NOTICE",
    voices: ["pico"],
  },
  {
    name: "SVOX Pico, as WebAssembly (@echogarden/svoxpico-wasm)",
    licence: "Apache-2.0",
    text: "node_modules/@echogarden/svoxpico-wasm/LICENSE",
    voices: ["pico"],
  },
  {
    name: "ONNX Runtime (onnxruntime-web)",
    licence: "MIT",
    text: "https://github.com/microsoft/onnxruntime/blob/main/LICENSE",
    voices: ["hibari", "kokoro"],
  },
  {
    name: "espeak-ng",
    licence: "GPL-3.0-or-later",
    text: "/usr/share/doc/espeak-ng/copyright",
    voices: ["espeak", "kokoro"],
  },
  {
    name: "flite and its voices",
    licence: "BSD-like (CMU Flite)",
    text: "/usr/share/doc/flite/copyright",
    voices: ["flite"],
  },
  {
    name: "Lindera and IPADIC, for Japanese",
    licence: "MIT; NAIST-2003",
    text: "node_modules/lindera-wasm-nodejs-ipadic",
    voices: ["espeak"],
  },
  {
    name: "models of sherpa-onnx",
    licence: "of each model",
    text: "MODEL_CARD or LICENSE in the model's folder",
    voices: ["sherpa"],
  },
  {
    name: "sherpa-onnx, which contains espeak-ng",
    licence: "Apache-2.0; GPL-3.0-or-later",
    text: "https://github.com/k2-fsa/sherpa-onnx/blob/master/LICENSE",
    voices: ["sherpa"],
  },
];
