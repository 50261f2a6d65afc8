/** Players and messages of pages that start them from a script. */

export type { PlayerEvents, PlayerHandle, PlayerState } from "../page/player/player-events.ts";
export { startPage, startPlayer } from "../page/start-page.ts";
