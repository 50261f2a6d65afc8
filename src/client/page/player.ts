/**
 * This module is served as `/player.js`. It starts what the website's configuration enables on a
 * page:
 *
 *     <script type="module" src="https://tts.example.com/player.js" data-api-key="vlk_…"></script>
 */

import { startTag } from "./start-page.ts";

export type { PlayerEvents, PlayerHandle, PlayerState } from "./player/player-events.ts";
export { startPage } from "./start-page.ts";

const tags = document.querySelectorAll<HTMLScriptElement>("script[data-api-key]");
const tag = [...tags].find(({ src }) => src === import.meta.url);
if (tag) startTag(tag);
