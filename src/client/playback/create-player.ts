import type { Environment } from "../environment.ts";
import { VoxledgerError } from "../errors.ts";
import type { AllowSpeechLabel } from "./allow-speech.ts";
import { AudioElementPlayer } from "./audio-element-player.ts";
import { functionPlayer, type Player } from "./player.ts";

/** The environment's player, or else one that plays through its audio element. */
export const createPlayer = (
  { player, audio, MediaSource, askToSpeak, startTimer }: Environment,
  {
    allowSpeechLabel,
    onAllowed,
  }: { allowSpeechLabel: () => Promise<AllowSpeechLabel>; onAllowed: () => void },
): Player => {
  if (typeof player === "function") return functionPlayer(player);
  if (player) return player;
  if (audio && askToSpeak) {
    return new AudioElementPlayer({
      ...{ audio, MediaSource, onAllowed, startTimer },
      askToSpeak: async (signal) => askToSpeak(signal, await allowSpeechLabel()),
    });
  }
  return functionPlayer(() => {
    throw new VoxledgerError("This environment cannot play audio: pass a player.", {
      code: "NOT_SUPPORTED",
    });
  });
};
