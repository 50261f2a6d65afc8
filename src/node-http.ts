/**
 * `node:http` for what runs from the start. An `import` of it reads every member, of which
 * `WebSocket` loads Node's `fetch` with HTTP/2: 40 ms of CPU time.
 */
export const nodeHttp = process.getBuiltinModule("node:http");
