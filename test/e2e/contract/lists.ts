import { expect } from "chai";
import { parseVerifierKey } from "../../../src/domain/ledger/seals/seal-note.ts";
import { loadBundles } from "../../support/bundles.ts";
import { authorize, registerWebsite } from "../../support/client.ts";
import { auditor, type DescribedApi, json, operator, oversized, report } from "./described-service.ts";

/** Part of contract.test.ts, which counts the responses of all parts. */
export const listResponses = (api: DescribedApi): void => {
  const { rule, get, send, asJson } = api;

  describe("matches the responses about voices, configuration and tokens:", () => {
    rule("GET with an entity tag, and conditional requests", async () => {
      for (const path of [
        "/v2/voices",
        "/v2/voices?browser=Chrome&browserVersion=130&os=Windows&osVersion=11",
        "/v2/voices/by-language/en-GB",
        "/v2/voices/by-language/nowhere",
        "/v2/voices/UK%20English%20Female",
      ]) {
        const { headers } = await get(200, path);
        await get(304, path, { ...authorize(api.website), "If-None-Match": headers.etag ?? "" });
      }
      await get(200, "/v2/config");
      await get(404, "/v2/voices/Nobody");
      await get(400, "/v2/voices?os=a&os=b");
      for (const path of ["/v2/voices/by-language/en-GB", "/v2/voices/UK%20English%20Female"]) {
        await get(400, path, { ...authorize(api.website), Host: "no/host" });
      }
    });

    rule("GET /v2/usage", async () => {
      await get(200, "/v2/usage");
      await get(200, "/v2/usage?month=2026-01&asOf=2026-01-31");
      await get(400, "/v2/usage?month=never");
      const { id, apiKey } = await registerWebsite(api.service.url);
      await send(200, "PUT", `/admin/websites/${id}/origins`, { origins: ["https://g.example"] });
      await get(403, "/v2/usage", { "X-API-Key": apiKey, Origin: "https://g.example" });
    });

    rule("POST /v2/voices/report", async () => {
      const headers = { ...authorize(api.website), ...json };
      await send(200, "POST", "/v2/voices/report", report, headers);
      await send(400, "POST", "/v2/voices/report", { ...report, voices: "all" }, headers);
      await send(413, "POST", "/v2/voices/report", oversized, headers);
    });

    rule("POST /v2/auth/refresh", async () => {
      await send(200, "POST", "/v2/auth/refresh", undefined, authorize(api.website));
    });

    rule("POST /v2/auth/verify-origin", async () => {
      const { id } = await registerWebsite(api.service.url);
      const path = `/admin/websites/${id}`;
      const verify = async (status: number, origin: string, proven = origin) => {
        const { token } = asJson(await send(201, "POST", `${path}/verifications`, { origin }));
        const headers = { Authorization: `Bearer ${token}`, Origin: proven };
        await send(status, "POST", "/v2/auth/verify-origin", undefined, headers);
      };
      await verify(200, "https://a.example");
      await verify(200, "https://b.example", "https://c.example");
      await send(401, "POST", "/v2/auth/verify-origin", undefined, { Origin: "https://a.example" });
    });
  });

  describe("matches the lists of OpenAI's API:", () => {
    for (const path of ["models", "models/tts-1", "audio/models", "audio/voices"]) {
      rule(`GET ${path}, with credentials and without`, async () => {
        for (const headers of [{}, authorize(api.website)]) {
          const { headers: received } = await get(200, `/openai/v1/${path}`, headers);
          const condition = { "If-None-Match": received.etag ?? "" };
          await get(304, `/openai/v1/${path}`, { ...headers, ...condition });
        }
      });
    }

    rule(
      "GET organization/usage/audio_speeches, with the tokens of operators, auditors and keys",
      async () => {
        const path = "/openai/v1/organization/usage/audio_speeches";
        const lists = "group_by[]=model&group_by[]=api_key_id&group_by[]=project_id";
        for (const headers of [operator, auditor, authorize(api.website)]) {
          await get(200, `${path}?start_time=1793836800&${lists}`, headers);
          await get(400, `${path}?start_time=never`, headers);
        }
        const { id, apiKey } = await registerWebsite(api.service.url);
        await send(200, "PUT", `/admin/websites/${id}/origins`, { origins: ["https://h.example"] });
        await get(403, `${path}?start_time=1793836800`, { "X-API-Key": apiKey, Origin: "https://h.example" });
      },
    );

    rule("GET an unknown model", async () => {
      for (const headers of [{}, authorize(api.website)]) {
        await get(404, "/openai/v1/models/gpt-9", headers);
        await get(400, `/openai/v1/models/${"x".repeat(201)}`, headers);
      }
    });
  });

  describe("matches the lists of ElevenLabs' API:", () => {
    rule("GET voices and models", async () => {
      for (const path of ["v1/models", "v1/voices", "v1/voices/UK_English_Female", "v2/voices"]) {
        const { headers } = await get(200, `/elevenlabs/${path}`);
        const condition = { "If-None-Match": headers.etag ?? "" };
        await get(304, `/elevenlabs/${path}`, { ...authorize(api.website), ...condition });
      }
      await get(400, `/elevenlabs/v1/voices/${"x".repeat(1_201)}`);
      await get(404, "/elevenlabs/v1/voices/Nobody");
      const page = await get(200, "/elevenlabs/v2/voices?search=english&sort=name&voice_ids=a");
      expect(asJson(page)).to.include({ total_count: 0 });
      await get(200, "/elevenlabs/v2/voices?language=en&language=de&voice_ids=a&voice_ids=UK_English_Female");
      await get(400, "/elevenlabs/v2/voices?next_page_token=Nobody");
    });

    for (const path of ["/elevenlabs/v1/user", "/elevenlabs/v1/user/subscription"]) {
      rule(`GET ${path}`, async () => {
        await get(200, path);
        const { id, apiKey } = await registerWebsite(api.service.url);
        await send(200, "PUT", `/admin/websites/${id}/origins`, { origins: ["https://h.example"] });
        await get(403, path, { "X-API-Key": apiKey, Origin: "https://h.example" });
      });
    }
  });

  describe("matches the public pages:", () => {
    rule(
      "/, /health and its parts, the key of seals, /openapi.json, the scripts, /docs, /voices, /console",
      async () => {
        await get(200, "/", {});
        await get(200, "/", { Accept: "text/html" });
        await get(200, "/health", {});
        await get(200, "/health/live", {});
        await get(200, "/health/ready", {});
        const { body } = await get(200, "/.well-known/voxledger-seal.pub", {});
        expect(parseVerifierKey(body.toString().trim())).not.to.equal(undefined);
        for (const path of [
          "/",
          "/openapi.json",
          "/client.js",
          "/client-sentences.js",
          "/client-labels.js",
          "/client-languages.js",
          "/player.js",
          "/player-features.js",
          "/voxledger.js",
          `/v/${(await loadBundles()).pageScriptsHash}/player.js`,
        ]) {
          const { headers } = await get(200, path, {});
          await get(304, path, { "If-None-Match": headers.etag ?? "" });
        }
        await get(404, "/v/none/player.js", {});
        const page = await get(200, "/docs", {});
        const files = page.body.toString().match(/docs\/assets\/[^"]+/g) ?? [];
        expect(files).to.have.length(4);
        const getAsset = async (file: string): Promise<void> => {
          const { headers } = await get(200, `/${file}`, {});
          await get(304, `/${file}`, { "If-None-Match": headers.etag ?? "" });
        };
        for (const file of files) await getAsset(file);
        await get(404, "/docs/assets/0/swagger-ui.css", {});
        await get(200, "/voices", {});
        await get(400, "/voices?page=0", {});
        const none = await get(200, "/voices?lang=none", {}); // its samples are not being spoken meanwhile
        await get(304, "/voices?lang=none", { "If-None-Match": none.headers.etag ?? "" });
        const console = await get(200, "/console", {});
        await get(304, "/console", { "If-None-Match": console.headers.etag ?? "" });
        const consoleFiles = console.body.toString().match(/console\/assets\/[^"]+/g) ?? [];
        expect(consoleFiles).to.have.length(2);
        for (const file of consoleFiles) await getAsset(file);
        await get(404, "/console/assets/0/console.js", {});
      },
    );

    rule("/reproduce, its scripts and the files of voices", async () => {
      const { headers, body } = await get(200, "/reproduce", {});
      await get(304, "/reproduce", { "If-None-Match": headers.etag ?? "" });
      const page = body.toString();
      const scripts = page.match(/reproduce\/assets\/[^"]+/g) ?? [];
      expect(scripts).to.have.length(2);
      const [file] = page.match(/[0-9a-f]{64}/) ?? [];
      for (const path of [...scripts, `reproduce/files/${file}`]) {
        const { headers } = await get(200, `/${path}`, {});
        await get(304, `/${path}`, { "If-None-Match": headers.etag ?? "" });
      }
      await get(404, "/reproduce/assets/0/reproduce.js", {});
      await get(404, "/reproduce/files/none", {});
    });
  });
};
