import { hash } from "node:crypto";
import { type EventOf, text, utcTime } from "./shape.ts";

/** The scripts that a release serves for pages: texts by paths, such as `/player.js`. */
export type PageScripts = Readonly<Record<string, string>>;

/** Streams `page-scripts-{hash}`, one for each pinned set of scripts. */
export const pageScriptsShapes = {
  /**
   * An operator was given the permanent addresses of the scripts that a release serves. Later
   * releases serve them, too. `scripts`: the JSON of `PageScripts`, compressed with Brotli, in
   * base64.
   */
  PageScriptsPinned: { scripts: text, at: utcTime },
};
export type PageScriptsEvent = EventOf<typeof pageScriptsShapes>;

export const pageScriptsStream = (scriptsHash: string): string => `page-scripts-${scriptsHash}`;

/** The name of the set: SHA-256 of its JSON, in hexadecimal. */
export const pageScriptsHash = (json: string): string => hash("sha256", json);

export interface PinnedScripts {
  readonly isPinned: boolean;
}

export const pageScriptsDecider = {
  initial: (): PinnedScripts => ({ isPinned: false }),
  evolve: (pinned: PinnedScripts, { type }: PageScriptsEvent): PinnedScripts =>
    type === "PageScriptsPinned" ? { isPinned: true } : pinned,
};

export const pinPageScripts = (
  { isPinned }: PinnedScripts,
  data: PageScriptsEvent["data"],
): PageScriptsEvent[] => (isPinned ? [] : [{ type: "PageScriptsPinned", data }]);
