import type { ShortGender } from "../../domain/synthesis/speech.ts";

/** Male voices among Piper's, by the name of their dataset; the others count as female, unless a pack says otherwise. */
const male: ReadonlySet<string> = new Set(
  [
    "alan,bryce,cadu,carlfm,danny,darkman,davefx,denis,dmitri,edresson,faber,gilles,harri,hfc_male,jeff,joe,john,karlsson",
    "kusal,mc_speech,norman,northern_english_male,pau,pim,rdh,reza_ibrahim,riccardo,ronnie,ruslan,ryan,sam,thorsten,tom,tugão",
  ].flatMap((line) => line.split(",")),
);

/** KittenTTS's speakers end with their gender: `expr-voice-2-m`. */
const ending = /-([fm])$/;

export const genderOf = (speaker: string, dataset: string): ShortGender => {
  const [, gender] = ending.exec(speaker) ?? [];
  return (gender as ShortGender | undefined) ?? (male.has(dataset.toLowerCase()) ? "m" : "f");
};
