import { concatBytes } from "../../bytes.ts";
import { NotGenuine } from "./not-genuine.ts";

const newline = 0x0a;
/** More than an event store accepts as one event. */
const maxLineBytes = 64 * 1024 * 1024;

/**
 * The lines, without their newlines.
 * @throws {NotGenuine} if the last one has no newline, or one is too long
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let lines = 0;
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      yield concatBytes(...parts, chunk.subarray(start, end));
      lines += 1;
      [parts, length, start] = [[], 0, end + 1];
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > maxLineBytes) throw new NotGenuine(`line ${lines} is too long`);
  }
  if (length > 0) throw new NotGenuine(`the export was cut off in line ${lines}`);
}
