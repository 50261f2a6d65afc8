/** Players and messages of pages that start them from a script. */

export { startPage, startPlayer } from "../page/start-page.ts";
