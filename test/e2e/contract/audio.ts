import { expect } from "chai";
import { authorize } from "../../support/client.ts";
import { openWebSocketClient } from "../../support/websocket-client.ts";
import { goodCredentials } from "../../support/wire/providers.ts";
import {
  type DescribedApi,
  handshake,
  json,
  legacy,
  operator,
  oversized,
  spoken,
} from "./described-service.ts";

/** Part of contract.test.ts, which counts the responses of all parts. */
export const audioResponses = (api: DescribedApi): void => {
  const { rule, expectStatus, get, send } = api;

  describe("matches the responses with audio:", () => {
    for (const [path, query] of [
      ["/v2/text/synthesize", spoken],
      ["/v1/text:synthesize", legacy],
    ] as const) {
      rule(`GET and HEAD ${path}`, async () => {
        const whole = await get(200, `${path}?${query}`);
        const headers = authorize(api.website);
        await get(200, `${path}?${query}`); // and by the fast path
        await get(204, `${path}?${query}&volume=0`);
        await get(206, `${path}?${query}`, { ...headers, Range: "bytes=0-9" });
        await get(304, `${path}?${query}`, { ...headers, "If-None-Match": whole.headers.etag ?? "" });
        await get(400, `${path}?${query}&pitch=fast`);
        await get(400, `${path}?${query}&pitch=3`);
        await get(404, `${path}?text=x&lang=xx-XX`);
        await get(416, `${path}?${query}`, { ...headers, Range: "bytes=9999999-" });
        await expectStatus(200, { method: "HEAD", path: `${path}?lang=en-GB&text=Never+spoken`, headers });
        const any = { ...headers, "If-None-Match": "*" };
        await expectStatus(304, { method: "HEAD", path: `${path}?${query}`, headers: any });
        for (const [status, more] of [
          [200, ""],
          [204, "&volume=0"],
          [400, "&rate=3"],
          [404, "&engine=gwn"],
        ] as const) {
          await expectStatus(status, { method: "HEAD", path: `${path}?${legacy}${more}`, headers });
        }
      });

      rule(`${path} with a URL that is too long`, async () => {
        await get(431, `${path}?text=${"x".repeat(80_000)}`);
      });
    }

    rule("POST /v2/text/synthesize", async () => {
      const headers = { ...authorize(api.website), ...json };
      const post = (status: number, body: unknown) =>
        send(status, "POST", "/v2/text/synthesize", body, headers);
      await post(200, { lang: "cy-GB", text: "Bore da" });
      await post(204, { voice: "UK English Female", text: "x", volume: 0 });
      await post(400, "{");
      await post(400, { text: "x", rate: "1" });
      await post(404, { voice: "Nobody", text: "x" });
      await post(413, oversized);
    });

    rule("POST /v2/articles, and the audio of its parts", async () => {
      const headers = { ...authorize(api.website), ...json };
      const post = (status: number, body: unknown) => send(status, "POST", "/v2/articles", body, headers);
      const parts = [
        { id: "1", text: "Held to its word" },
        { id: "2", text: "…" },
        { id: "3", text: "x", lang: "xx-XX" },
      ];
      for (let times = 0; times < 2; times++) {
        const article = api.asJson(await post(200, { voice: "UK English Female", parts }));
        const { pathname, search } = new URL(article.parts[0].url);
        for (const [status, more] of [
          [200, {}],
          [206, { Range: "bytes=0-9" }],
          [416, { Range: "bytes=9999999-" }],
        ] as const)
          await get(status, pathname + search, more);
        await expectStatus(200, { method: "HEAD", path: pathname + search });
      }
      await post(400, { parts });
      await post(404, { parts: parts.slice(2) });
      await post(413, oversized);
    });

    rule("POST /v2/audio/name, and the same for an operator", async () => {
      const request = { voice: "UK English Female", text: "Held to its word" };
      const headers = { ...authorize(api.website), ...json };
      for (const [path, as] of [
        ["/v2/audio/name", headers],
        [`/admin/keys/${api.website.apiKey}/audio/name`, { ...operator, ...json }],
      ] as const) {
        const post = (status: number, body: unknown) => send(status, "POST", path, body, as);
        await post(200, { request });
        await post(400, { request: { ...request, volume: 0 } });
        await post(400, request);
        await post(404, { request: { ...request, voice: "Nobody" } });
        await post(413, oversized);
      }
    });

    rule("POST /v2/text/synthesize with BYOK engines, whole and as a stream", async () => {
      for (const [engine, credentials] of Object.entries(goodCredentials)) {
        await send(200, "PUT", `/admin/websites/${api.website.id}/credentials/${engine}`, credentials);
      }
      const headers = { ...authorize(api.website), ...json };
      const streamed = { ...headers, Accept: "text/event-stream" };
      const speech = { voice: "alloy", text: "Held to its word" };
      const post = (status: number, body: object, as: Record<string, string>) =>
        send(status, "POST", "/v2/text/synthesize", body, as);
      await post(200, { ...speech, stream: true }, streamed);
      await post(200, { ...speech, format: "ogg" }, streamed);
      await post(200, speech, headers);
      await post(204, { ...speech, volume: 0 }, streamed);
      await get(200, "/v2/text/synthesize?voice=en-US-JennyNeural&format=wav&text=Held+to+its+word");
      await get(200, "/v2/voices/en-US-Neural2-C");
      api.providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
      await post(502, { ...speech, text: "Refused" }, streamed);
      api.providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
      const refused = { ...speech, text: "Refused again" };
      await send(502, "POST", `/admin/keys/${api.website.apiKey}/speech`, refused);
      for (const engine of Object.keys(goodCredentials)) {
        await send(
          204,
          "DELETE",
          `/admin/websites/${api.website.id}/credentials/${engine}`,
          undefined,
          operator,
        );
      }
      await post(404, speech, streamed);
    });

    rule("POST /openai/v1/audio/speech", async () => {
      const headers = { Authorization: `Bearer ${api.website.apiKey}.${api.website.apiSecret}`, ...json };
      const post = (status: number, body: unknown) =>
        send(status, "POST", "/openai/v1/audio/speech", body, headers);
      const speech = { model: "tts-1", voice: "alloy", input: "Held to its word" };
      for (const response_format of ["mp3", "opus", "aac", "flac", "wav", "pcm"]) {
        await post(200, { ...speech, response_format });
      }
      await post(200, { ...speech, stream_format: "sse" });
      await post(400, { ...speech, speed: 5 });
      await post(200, { ...speech, model: "gpt-9", response_format: null, speed: "1.2" });
      await post(404, { ...speech, model: "gwn" });
      await post(400, { ...speech, voice: "Nobody" });
      await post(413, oversized);
      await send(200, "PUT", `/admin/websites/${api.website.id}/credentials/oai`, goodCredentials.oai);
      api.providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
      await post(502, { ...speech, model: "oai", input: "Refused once" });
      await send(204, "DELETE", `/admin/websites/${api.website.id}/credentials/oai`, undefined, operator);
    });

    for (const form of ["", "/stream", "/with-timestamps", "/stream/with-timestamps"]) {
      rule(`POST /elevenlabs/v1/text-to-speech/{voice_id}${form}`, async () => {
        const headers = { "xi-api-key": `${api.website.apiKey}.${api.website.apiSecret}`, ...json };
        const post = (status: number, voice: string, body: unknown) =>
          send(status, "POST", `/elevenlabs/v1/text-to-speech/${voice}`, body, headers);
        const id = "UK_English_Female";
        const speech = { text: "Held to its word", model_id: "eleven_multilingual_v2" };
        await post(200, `${id}${form}`, speech);
        for (const format of [
          "mp3_44100_128",
          "opus_48000_64",
          "wav_16000",
          "pcm_8000",
          "ulaw_8000",
          "alaw_8000",
        ]) {
          await post(200, `${id}${form}?output_format=${format}`, speech);
        }
        await post(400, `${id}${form}?output_format=mp3`, speech);
        await post(400, `${id}${form}`, { ...speech, voice_settings: { speed: 3 } });
        await post(404, `Nobody${form}`, speech);
        await post(413, `${id}${form}`, oversized);
        await send(200, "PUT", `/admin/websites/${api.website.id}/credentials/oai`, goodCredentials.oai);
        api.providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
        await post(502, `alloy${form}`, { text: `Refused ${form}`, model_id: "oai" });
        await send(204, "DELETE", `/admin/websites/${api.website.id}/credentials/oai`, undefined, operator);
      });
    }

    rule("GET /v2/text/stream, before and after the handshake", async () => {
      const sent = { method: "GET", path: "/v2/text/stream" };
      await get(426, sent.path, {});
      await get(400, sent.path, {
        ...handshake,
        ...authorize(api.website),
        "Sec-WebSocket-Protocol": "a,,b",
      });
      const client = await openWebSocketClient(api.service.url.replace("http", "ws") + sent.path, {
        headers: authorize(api.website),
      });
      client.send({ type: "synthesize", voice: "UK English Female", text: "x" });
      client.send({ type: "synthesize", text: 1 });
      client.send({ type: "ping" });
      const headers = { ...client.headers, "content-type": "application/json" };
      for (const type of ["error", "error", "pong"] as const) {
        const body = Buffer.from(JSON.stringify(await client.expect(type)));
        expect(api.contract.deviations(sent, { status: 101, headers, body })).to.deep.equal([]);
      }
      await client.close();
    });

    rule("GET and HEAD /audio/{object}", async () => {
      const { headers } = await get(200, `/v2/text/synthesize?${spoken}`);
      const path = headers["content-location"] ?? "";
      const etag = headers.etag ?? "";
      await get(200, path, {});
      await get(206, path, { Range: "bytes=-5" });
      await get(304, path, { "If-None-Match": etag });
      await get(416, path, { Range: "bytes=9999999-" });
      await get(404, `/audio/${"0".repeat(64)}.mp3`, {});
      await expectStatus(200, { method: "HEAD", path });
      await expectStatus(304, { method: "HEAD", path, headers: { "If-None-Match": "*" } });
      await expectStatus(404, { method: "HEAD", path: "/audio/nothing.mp3" });
    });
  });
};
