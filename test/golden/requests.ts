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

const hello = "lang=en-GB&text=Hello.";

/** Requests for speech that are refused, as queries of GET and as bodies of POST. */
export const refused: { readonly queries: readonly string[]; readonly bodies: readonly string[] } = {
  queries: [
    "lang=en-GB",
    "lang=en-GB&text=%20%0A",
    "lang=en-GB&text=...",
    "lang=en-GB&text=%3Cspeak%3E.%3C/speak%3E",
    "lang=en-GB&text=%3Cspeak%3Ex",
    "lang=en-GB&text=%3Cspeak%3E%3Caudio%20src=%22/etc/passwd%22/%3Ex%3C/speak%3E",
    `lang=en-GB&text=${"x".repeat(5_001)}`,
    "lang=en-GB&text=he%ffllo",
    "lang=en-GB&text=hello%zz",
    "lang=en-GB&text=x%",
    "text=x",
    "lang=xx-XX&text=x",
    `${hello}&pitch=2.1`,
    `${hello}&pitch=1&pitch=1`,
    `${hello}&rate=fast`,
    `${hello}&volume=Infinity`,
    `${hello}&engine=g9`,
    `${hello}&format=flac`,
  ],
  bodies: [
    "{",
    "[]",
    '"text"',
    '{"lang": "en-GB"}',
    '{"lang": "en-GB", "text": 1}',
    '{"lang": "en-GB", "text": "\\ud800"}',
    '{"lang": "en-GB", "text": "x", "pitch": "1"}',
    '{"lang": "en-GB", "text": "x", "stream": "yes"}',
    '{"lang": "en-GB", "text": "x", "stream": true, "volume": 0}',
    '{"stream": true}',
  ],
};
