/**
 * Gets `node:http` for code that runs at the start. An `import` of it would read every member. One
 * of them, `WebSocket`, loads Node's `fetch` with HTTP/2, which takes 40 ms of CPU time.
 */
export const nodeHttp = process.getBuiltinModule("node:http");
