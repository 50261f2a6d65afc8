import { hash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf, type Credentials } from "../client.ts";
import { type Heard, openRecogniser } from "./recogniser.ts";

/** Where texts are spoken, and the folder for the audio of those that are not heard right. */
export interface ListenerOptions {
  readonly url: string;
  readonly credentials: Credentials;
  readonly folder: string;
}

/** A text that the service spoke and the recogniser heard. */
export interface Hearing extends Heard {
  /** The audio, kept unless it was heard right. */
  readonly file: string;
}

/** Speaks texts through the service and listens to them. */
export interface Listener {
  /**
   * `voice`: a friendly voice, or a system voice by its name or voiceName. `words`: what should be
   * heard.
   * @throws {Error} if the service refuses the text
   */
  hear(voice: string, text: string, words?: string): Promise<Hearing>;
  close(): Promise<void>;
}

export const openListener = ({ url, credentials, folder }: ListenerOptions): Listener => {
  const recogniser = openRecogniser();
  const hearings = new Map<string, Promise<Hearing>>();

  // Every voice speaks WAV here, which loses nothing.
  const speak = async (voice: string, input: string): Promise<Buffer> => {
    const response = await fetch(`${url}/openai/v1/audio/speech`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${credentials.apiKey}.${credentials.apiSecret}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ model: "tts-1", voice, input, response_format: "wav" }),
    });
    if (!response.ok) throw new Error(`“${input}”: ${response.status} ${await response.text()}`);
    return bytesOf(response);
  };

  const hear = async (audio: Buffer, digest: string, words: string): Promise<Hearing> => {
    const file = join(folder, `${digest.slice(0, 16)}.wav`);
    await writeFile(file, audio);
    const heard = await recogniser.listen(file, words);
    if (heard.right) await rm(file);
    return { ...heard, file };
  };

  return {
    hear: async (voice, text, words = text) => {
      const audio = await speak(voice, text);
      const digest = hash("sha256", audio);
      // A text and its words often give the same audio.
      const key = `${digest} ${words}`;
      const hearing = hearings.get(key) ?? hear(audio, digest, words);
      hearings.set(key, hearing);
      return hearing;
    },
    close: recogniser.close,
  };
};
