import type { LocalTool } from "../engines/local/local-tool.ts";

/** Reads a file of a voice or a runtime, by its name in the page's list. */
export type ReadFile = (name: string) => Promise<Uint8Array<ArrayBuffer>>;

/** The tool of the voice, with its files. @throws if it does not run in pages */
export const toolFor = async (voice: string, _readFile: ReadFile): Promise<LocalTool> => {
  throw new Error(`The voice ${voice} does not run in this page.`);
};
