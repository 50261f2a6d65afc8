/** Text that is spoken without interruption, and the silence after it. */
export interface SherpaPart {
  /** The text is empty if there is only silence. */
  readonly text: string;
  /** The place in the text of the request at which it begins, in code points. */
  readonly position: number;
  readonly pauseMs: number;
}

/**
 * One request to a model. Without parts it only loads the model; the response is a WAV without
 * samples.
 */
export interface SherpaRequest {
  readonly speaker: number;
  /** The speed of the speech: 1 is normal, 2 is twice as fast. */
  readonly speed: number;
  readonly parts: readonly SherpaPart[];
}

/** The argument of a process. */
export interface SherpaStart {
  /** The library's configuration of the model, with the paths of its files. */
  readonly config: object;
  readonly threads: number;
}
