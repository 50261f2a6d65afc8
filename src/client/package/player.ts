/** Players and messages of pages that start them from a script. */

import type { PlayerEvents, PlayerHandle } from "../page/player/player-events.ts";

export type { PlayerEvents, PlayerHandle, PlayerState } from "../page/player/player-events.ts";
export { startPage, startPlayer } from "../page/start-page.ts";

declare global {
  interface GlobalEventHandlersEventMap {
    "voxledger:start": CustomEvent<PlayerEvents["start"]>;
    "voxledger:progress": CustomEvent<PlayerEvents["progress"]>;
    "voxledger:end": CustomEvent<PlayerEvents["end"]>;
    "voxledger:error": CustomEvent<PlayerEvents["error"]>;
  }
  interface HTMLElementTagNameMap {
    /** The mini player has no handle. */
    "voxledger-player": HTMLElement & { readonly player?: PlayerHandle };
  }
}
