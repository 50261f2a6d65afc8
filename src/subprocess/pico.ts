/** The argument of a process of Pico. */
export interface PicoStart {
  /** The paths of the two files of each voice. */
  readonly voices: Readonly<Record<string, PicoFiles>>;
}

export interface PicoFiles {
  readonly textAnalysis: string;
  readonly signal: string;
}

/** One text for Pico. */
export interface PicoRequest {
  readonly voice: string;
  readonly text: string;
  /** The volume in per cent, from 0 to 500. Some voices clip at 50 and more. */
  readonly level: number;
  /** The speed in per cent, from 20 to 500. */
  readonly speed: number;
  /** The pitch in per cent of the voice's own, from 50 to 200. */
  readonly pitch: number;
}
