/**
 * A minimal speech server on node:http. It responds to every request with the audio of the given
 * file. The first bytes come after this many milliseconds. The rest comes in small chunks, like a
 * synthesis in progress.
 */
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const [, , file = "", firstAfterMs = "20"] = process.argv;
const audio = readFileSync(file);
const chunkBytes = 4_096;
const chunkEveryMs = 10;

const trickle = (response: ServerResponse, at: number): void => {
  response.write(audio.subarray(at, at + chunkBytes));
  if (at + chunkBytes >= audio.length) response.end();
  else setTimeout(trickle, chunkEveryMs, response, at + chunkBytes);
};

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.setHeader("Content-Type", "audio/mpeg");
    setTimeout(trickle, Number(firstAfterMs), response, 0);
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
