import type { ProsodyParameter } from "../prosody.ts";

/** The parameters of a synthesis request. */
export interface SynthesisQuery {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
  readonly volume?: number | undefined;
}

/**
 * Audio whose first chunk has been received. Silence has no chunk, a download has one, and a stream
 * has several.
 */
export interface OpenedAudio {
  readonly contentType: string;
  readonly prosodyApplied: readonly ProsodyParameter[];
  /** True if the audio is complete; always true for silence. */
  readonly whole: boolean;
  /**
   * The chunks, which can be read once. The iteration rejects with a VoxledgerError if the stream
   * breaks: the chunks until then are incomplete audio.
   */
  readonly audio: AsyncIterable<Uint8Array<ArrayBuffer>>;
  /**
   * Loads the marks of the audio, as the service keeps them. Absent if there are none.
   * @throws {Error}
   */
  readonly loadMarks?: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** Resolves when all of the audio has been received. */
  readonly received: Promise<void>;
}
