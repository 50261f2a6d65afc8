/**
 * Plain node:http: responds with the given headers (JSON) and a body of the length that they
 * declare.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const headers: Record<string, string> = JSON.parse(process.argv[2] ?? "{}");
const body = Buffer.alloc(Number(headers["content-length"]), 1);

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
