/** One text for espeak-ng, which either its library or its command line speaks. */
export interface EspeakRequest {
  /** The text without the commands of espeak-ng. */
  readonly text: string;
  readonly ssml: boolean;
  /**
   * True if the text contains phonemes between double brackets. Default: false. The command line
   * always reads them.
   */
  readonly phonemes?: boolean | undefined;
  /** A voice file and perhaps a variant: `gmw/en-US+f3`. */
  readonly voice: string;
  /** Words per minute, at least 80. */
  readonly rate: number;
  /** The pitch, from 0 to 99. 50 is the voice's own pitch. */
  readonly pitch: number;
  /** The volume in per cent. */
  readonly volume: number;
}

/** An event that the library reports about its samples. */
export interface SpeechEvent {
  readonly kind: "word" | "sentence" | "phoneme";
  /** The offset in the text, in code points. A phoneme has the offset of its word. */
  readonly position: number;
  /** The length in code points, at most 31; 0 for sentences. */
  readonly length: number;
  /** The sample at which the event begins. */
  readonly sample: number;
  /** The phoneme, as the model writes it. */
  readonly value?: string;
}

/** The arguments of the command line; the text is its standard input. */
export const espeakArguments = ({
  voice,
  rate,
  pitch,
  volume,
  ssml,
}: Omit<EspeakRequest, "text">): string[] => [
  ...["-v", voice, "-s", String(rate), "-p", String(pitch), "-a", String(volume)],
  ...(ssml ? ["-m"] : []),
  ...["--stdin", "--stdout"],
];
