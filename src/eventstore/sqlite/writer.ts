import { resolve } from "node:path";
import { type DatabaseFile, openFile } from "./database-file.ts";
import type { WriterProtocol } from "./protocol.ts";
import { WorkerClient } from "./worker-rpc.ts";

/** Writes the file: in a thread of this process, or in a process that writes for several. */
export interface Writer {
  /** @throws {EventStoreUnavailable} if the outcome of a write is unknown */
  call<K extends keyof WriterProtocol & string>(
    kind: K,
    request: WriterProtocol[K]["request"],
  ): Promise<WriterProtocol[K]["response"]>;
  /** Waits for calls in progress. */
  close(): Promise<void>;
}

/** Starts the thread, or only prepares its start with the first call. */
export const startWriter = (file: DatabaseFile, { ahead }: { readonly ahead: boolean }): Writer => {
  const client = new WorkerClient<WriterProtocol>({
    entry: new URL("./writer-worker.ts", import.meta.url),
    workerData: file,
    send: "together",
  });
  if (ahead) client.start();
  return client;
};

/**
 * Starts a writer for several processes: groups of all their appends share the cost of an fsync.
 * The file is created if it is missing.
 * @throws {EventStoreUnavailable} if the file cannot be opened
 */
export const openWriter = async (path: string): Promise<Writer> =>
  startWriter(await openFile(resolve(path), false), { ahead: true });
