/** The number of characters per chunk. With a batch of an event store, this bounds the memory. */
const chunkLength = 64 * 1024;

/** Joins lines into chunks of complete lines. If the source throws, its last lines are left out. */
export async function* joinIntoChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}
