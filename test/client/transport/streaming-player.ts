import type { PlaybackProsody, Player } from "../../../src/client/voxledger.ts";

/** A player that hands on what it is given, piece by piece. */
export const streamingPlayer = (
  hear: (piece: string) => void | Promise<void>,
  prosodies: PlaybackProsody[] = [],
): Player => ({
  play: async ({ audio }, { onStart, prosody }) => {
    prosodies.push(prosody);
    for await (const piece of audio) {
      onStart();
      await hear(Buffer.from(piece).toString());
    }
  },
  pause: () => {},
  resume: () => {},
});
