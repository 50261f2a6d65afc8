import { resolve } from "node:path";
import { openFile } from "./database-file.ts";
import type { ReaderProtocol } from "./protocol.ts";
import { WorkerClient } from "./worker-rpc.ts";
import { startWriter, type Writer } from "./writer.ts";

/**
 * The threads in which SQLite runs, so that a slow disk or another process's lock never blocks the
 * event loop.
 */
export interface SqliteThreads {
  readonly writer: Writer;
  readonly reader: WorkerClient<ReaderProtocol>;
  close(): Promise<void>;
}

interface ThreadsOptions {
  /**
   * The database file. It and its directory are created if missing, accessible to the owner only.
   */
  readonly path: string;
  /** Opens an existing file, which may be write-protected. Default: false. */
  readonly readOnly?: boolean | undefined;
  /**
   * Another process's writer of the file, which must exist by then. Default: a writer thread of
   * this process.
   */
  readonly writer?: Writer | undefined;
}

/**
 * Starts the threads. They open the database with their first calls.
 * @throws {EventStoreUnavailable} if the file cannot be opened
 */
export const startThreads = async (options: ThreadsOptions): Promise<SqliteThreads> => {
  const { path, readOnly = false } = options;
  const file = await openFile(resolve(path), readOnly || options.writer !== undefined);
  const writer = options.writer ?? startWriter(file, { ahead: !readOnly });
  const reader = new WorkerClient<ReaderProtocol>({
    entry: new URL("./reader-worker.ts", import.meta.url),
    workerData: file,
    send: "now",
  });
  reader.start();
  return {
    writer,
    reader,
    close: async () => {
      await reader.close();
      // The writer is closed last, because an open reader would keep it from truncating the
      // write-ahead log.
      await writer.close();
    },
  };
};
