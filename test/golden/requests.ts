/* The requests that test/golden/http.test.ts makes, beside those that the description names. */

/** Addresses that the description does not name. */
export const others = ["/nowhere", "/v2/nowhere", "/admin/nowhere", "/docs/swagger-ui.css", "/docs/nowhere"];

/** Addresses whose whole body is recorded. */
export const readable = [
  "/health",
  "/v2/config",
  "/v2/voices/by-language/eo",
  "/v2/voices/UK%20English%20Female",
  "/v2/voices?browser=chrome&os=windows&lang=en-GB",
];

export const query = "text=The+train+leaves+at+nine.&lang=en-GB";
export const json = { "Content-Type": "application/json" };
const spoken = { text: "The train leaves at nine.", lang: "en-GB" };

/** What a key asks for and gets spoken, one after the other, by the tools of this machine. */
export const speech: readonly (readonly [
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: object,
])[] = [
  ["GET", `/v2/text/synthesize?${query}`],
  ["GET", `/v2/text/synthesize?${query}`],
  ["HEAD", `/v2/text/synthesize?${query}`],
  ["GET", `/v2/text/synthesize?${query}`, { "If-None-Match": "*" }],
  ["GET", `/v2/text/synthesize?${query}`, { Range: "bytes=0-99" }],
  ["GET", `/v2/text/synthesize?${query}`, { Range: "bytes=99999999-" }],
  ["GET", `/v2/text/synthesize?${query}&format=wav`],
  ["GET", `/v2/text/synthesize?${query}&volume=0`],
  ["GET", "/v2/text/synthesize?text=One.&lang=hy-AM"],
  ["GET", "/v2/text/synthesize?text=One.&voice=Unknown"],
  ["GET", "/v2/text/synthesize?text=One.&lang=en-GB&engine=gwn"],
  ["POST", "/v2/text/synthesize", json, spoken],
  ["POST", "/v2/text/synthesize", { ...json, "Idempotency-Key": "k-1" }, spoken],
  ["POST", "/v2/text/synthesize", { ...json, "Idempotency-Key": "k-1" }, { ...spoken, lang: "en-US" }],
  ["POST", "/v2/text/synthesize", json, { ...spoken, stream: true }],
  ["POST", "/v2/text/synthesize", { "Content-Type": "text/plain" }, spoken],
  ["GET", `/v1/text:synthesize?${query}`],
];
