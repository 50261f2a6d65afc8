import { membersIn, type PublishedFile, type VoicePackage } from "./voice-package.ts";

const picoFiles = {
  "de-DE_gl0_sg.bin": [634_996, "39147b816d08bbbe64b23797804cf691a761ab73a7689ca9e2b6f87ace722654"],
  "de-DE_ta.bin": [440_732, "df292826754713d5efb6c95d60582c17753e95856b4c735c3150db722b2c218a"],
  "en-GB_kh0_sg.bin": [584_436, "8f9f5d13a920a9f3371517178d42ce89b835f1e587760c2db280beb593c388fa"],
  "en-GB_ta.bin": [412_248, "57998f6423236dea25cd572a73b13f371e64155840e31b571eba7fca0b521b7e"],
  "en-US_lh0_sg.bin": [777_396, "d6946526696d9eb085f7b23b1fbdf7a9986caca658b645e9eb73c6514fd4789d"],
  "en-US_ta.bin": [650_668, "3a2a4d23de2a44dbbff50f69dcb9486be53b6d0a871d77cdc35f45c3e25e82aa"],
  "es-ES_ta.bin": [256_744, "b18c60baf249466bf8785d333d8cb4cf1f6b62e5545986f621c66568f1851961"],
  "es-ES_zl0_sg.bin": [605_280, "82e724d3c788767ec95f0d22b0ab738e677ad397f26ec0bbbf2c07aafdf29000"],
  "fr-FR_nk0_sg.bin": [833_236, "85e2d63cf9f5522ea2a483d25ddd1cb0c6bfeecc39c92884aecfe7d3f179837a"],
  "fr-FR_ta.bin": [381_936, "d9da5eb3cd7aac7071ab8ff7fee8d716f58572ee5393c1f0a8db946d6bf32f97"],
  "it-IT_cm0_sg.bin": [628_268, "c48be4dc1f5a3c77a3dc4c8a457949b69bc433d674fac4fac91d49c01770e7e4"],
  "it-IT_ta.bin": [252_044, "9b243c3470660293691d0d4e000901d7c5d0fa71976b33986e92e93a860ade33"],
} as const satisfies Record<string, PublishedFile>;

export const pico: VoicePackage = {
  name: "pico",
  title: "SVOX Pico (ttspico 0.3.2)",
  licence: "Apache-2.0",
  files: picoFiles,
  voices: {
    "en-GB": ["en-GB_ta.bin", "en-GB_kh0_sg.bin"],
    "de-DE": ["de-DE_ta.bin", "de-DE_gl0_sg.bin"],
    "fr-FR": ["fr-FR_ta.bin", "fr-FR_nk0_sg.bin"],
    "es-ES": ["es-ES_ta.bin", "es-ES_zl0_sg.bin"],
    "it-IT": ["it-IT_ta.bin", "it-IT_cm0_sg.bin"],
    "en-US": ["en-US_ta.bin", "en-US_lh0_sg.bin"],
  },
  archives: [
    {
      registry: "pypi",
      project: "ttspico",
      file: "ttspico-0.3.2.tar.gz",
      sha256: "743a280a8ced8523583665cb45797d730aceb2e145a04a212f82ebb0b5fac6c8",
      members: {
        ...membersIn("ttspico-0.3.2/picopi/pico/lang", Object.keys(picoFiles)),
        // The text of the licence is part of the notice.
        NOTICE: "ttspico-0.3.2/picopi/pico/lib/NOTICE",
      },
    },
  ],
};
