import { fixedRateFormats } from "../../../domain/synthesis/fixed-rate-formats.ts";
import type { AudioFormat } from "../../../domain/synthesis/formats.ts";

/** ElevenLabs' names of formats, all of which are sent exactly as named. */
const outputFormats: ReadonlyMap<string, AudioFormat> = new Map<string, AudioFormat>([
  ...Object.keys(fixedRateFormats).map((name): [string, AudioFormat] => [name, name as AudioFormat]),
  ["opus_48000_32", "opus"],
  ["pcm_24000", "pcm"],
]);

export const outputFormatNames = [...outputFormats.keys()].toSorted();

/** Without a name: the format of `/v2`, whose sounds are then shared. */
export const formatNamed = (name: string | undefined): AudioFormat =>
  (name === undefined ? undefined : outputFormats.get(name)) ?? "mp3";
