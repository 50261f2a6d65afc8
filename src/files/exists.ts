import { stat } from "node:fs/promises";

/** True if there is a file or directory that this process can find. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
