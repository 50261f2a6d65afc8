import type { PlaybackProsody, Player } from "../../../src/client/voxledger.ts";

/** A player that passes each chunk of audio on as soon as it has been received. */
export const streamingPlayer = (
  onChunk: (chunk: string) => void | Promise<void>,
  prosodies: PlaybackProsody[] = [],
): Player => ({
  play: async ({ audio }, { onStart, prosody }) => {
    prosodies.push(prosody);
    for await (const chunk of audio) {
      onStart();
      await onChunk(Buffer.from(chunk).toString());
    }
  },
  pause: () => {},
  resume: () => {},
});
