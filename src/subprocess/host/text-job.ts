import { Writable } from "node:stream";
import { ToolFailed } from "../tools.ts";
import type { ToolProcess } from "./exit-failure.ts";
import type { SpokenText } from "./frames.ts";
import type { SpeakerProcess } from "./speaker-process.ts";

/**
 * A text that is no longer needed may end by itself within this time. Its process can then be used
 * again, and most texts take less time than the start of another process.
 */
const endsItselfMs = 500;

export const abandoned = new ToolFailed("abandoned", "The text is no longer needed.");

/** A speaker process for one text. */
export interface TakenSpeaker<Content> {
  readonly speaker: SpeakerProcess<Content>;
  /**
   * Called when the text or the process has ended. `hasFailed`: true if the text has failed, so
   * that the state of the library is unknown.
   */
  readonly release: (hasFailed: boolean) => void;
}

/**
 * Speaks one text, with the interface of a tool's process. It starts when its input ends. `take`
 * rejects if the signal is aborted.
 */
export const speakOnce = <Content>(
  requestFor: (input: string) => Content,
  take: (signal: AbortSignal) => Promise<TakenSpeaker<Content>>,
): ToolProcess => {
  const stop = new AbortController();
  const parts: Buffer[] = [];
  const text = Promise.withResolvers<string>();
  text.promise.catch(() => undefined);
  let spoken: SpokenText | undefined;
  const input = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      parts.push(bytes);
      done();
    },
    final: (done) => {
      text.resolve(Buffer.concat(parts).toString("utf8"));
      done();
    },
  });

  async function* read(): AsyncGenerator<Buffer, void> {
    const content = await text.promise;
    const { speaker, release } = await take(stop.signal);
    let late: NodeJS.Timeout | undefined;
    let hasFailed = true;
    const endSoon = (): void => {
      late ??= setTimeout(speaker.kill, endsItselfMs);
    };
    stop.signal.addEventListener("abort", endSoon);
    if (stop.signal.aborted) endSoon();
    try {
      spoken = yield* speaker.speak(requestFor(content), stop.signal);
      if (spoken.isLast) await speaker.gone;
      hasFailed = false;
    } finally {
      clearTimeout(late);
      release(hasFailed);
    }
  }

  return {
    input,
    output: read(),
    spoken: () => spoken && { events: spoken.events, cpuMs: spoken.cpuMs },
    kill: () => {
      stop.abort();
      text.reject(abandoned);
    },
  };
};
