import { expect } from "chai";
import { operationsOf } from "../../contracts/http.ts";
import { servePage } from "../../support/local-server.ts";
import { auditor, type DescribedApi, json, operator, oversized } from "./described-service.ts";

/** Part of contract.test.ts, which counts the responses of all parts. */
export const adminResponses = (api: DescribedApi): void => {
  const { rule, ask, get, send, asJson } = api;

  describe("matches the admin API:", () => {
    rule("websites", async () => {
      const path = `/admin/websites/${api.website.id}`;
      const site = { name: "another", origins: ["https://e.example"], plan: "commercial" };
      await send(201, "POST", "/admin/websites", site);
      await send(201, "POST", `${path}/verifications`, { origin: "https://e.example" });
      await send(200, "PUT", `${path}/config`, {
        voice: { rate: 1.2 },
        features: { webPlayer: { enabled: true } },
      });
      await send(200, "PUT", `${path}/name`, { name: "renamed" });
      await send(200, "PUT", `${path}/origins`, { origins: ["https://e.example"] });
      await send(201, "POST", `${path}/keys`, undefined, operator);
      for (const listed of ["/admin/websites", path, `${path}/credentials`]) await get(200, listed, operator);
      let status = 201;
      while (status === 201) {
        const origin = { origin: "https://f.example" };
        ({ status } = await ask({
          method: "POST",
          path: `${path}/verifications`,
          headers: { ...operator, ...json },
          body: JSON.stringify(origin),
        }));
      }
      expect(status).to.equal(409);
    });

    rule("a page of a website", async () => {
      const page = `/admin/websites/${api.website.id}/page?url=`;
      const site = await servePage(() => "<p>Read aloud.</p>");
      try {
        await send(200, "PUT", `/admin/websites/${api.website.id}/origins`, { origins: [site.url] });
        await get(200, `${page}${site.url}/`, auditor);
        await get(502, `${page}${site.url}/missing`, operator);
        await get(400, `${page}https://elsewhere.example/`, operator);
        await get(404, `/admin/websites/web_unknown/page?url=${site.url}`, operator);
      } finally {
        await site.close();
      }
    });

    rule("lexicons", async () => {
      const path = `/admin/websites/${api.website.id}/lexicons`;
      const lexicon = (name: string) => ({ rules: [{ grapheme: name, alias: "replaced" }] });
      const pls = `<lexicon version="1.0" xml:lang="en"><lexeme><grapheme>a</grapheme><alias>b</alias></lexeme></lexicon>`;
      const xml = { ...operator, "Content-Type": "application/pls+xml" };
      await send(200, "PUT", `${path}/xml`, pls, xml);
      await send(400, "PUT", `${path}/xml`, "<lexicon/>", xml);
      await send(413, "PUT", `${path}/xml`, " ".repeat(1_100_000), xml);
      for (const name of ["a", "b", "c", "d", "e", "f", "g", "h", "i"]) {
        await send(200, "PUT", `${path}/${name}`, lexicon(name));
      }
      await send(409, "PUT", `${path}/j`, lexicon("j"));
      await get(200, path, operator);
      await get(200, `${path}/a`, operator);
      await get(404, `${path}/j`, operator);
      for (const { name } of asJson(await get(200, path, operator)).lexicons) {
        await send(204, "DELETE", `${path}/${name}`, undefined, operator);
      }
    });

    rule("webhooks", async () => {
      const url = "https://hooks.invalid/";
      await send(400, "POST", "/admin/webhooks", { url: "https://169.254.169.254/" });
      await send(404, "POST", "/admin/webhooks", { url, websiteId: "web_unknown" });
      let status = 201;
      while (status === 201) {
        const headers = { ...operator, ...json };
        const body = JSON.stringify({ url, events: ["key.suspended"], apiKey: api.website.apiKey });
        ({ status } = await ask({ method: "POST", path: "/admin/webhooks", headers, body }));
      }
      expect(status).to.equal(409);
      const { webhooks } = asJson(await get(200, "/admin/webhooks", auditor));
      const path = `/admin/webhooks/${webhooks[0].webhookId}`;
      await get(200, path, auditor);
      await send(200, "PATCH", path, { url: "https://hooks.invalid/changed", enabled: false });
      await send(201, "POST", `${path}/secrets`, undefined, operator);
      await send(202, "POST", `${path}/test`, undefined, operator);
      await get(200, `${path}/deliveries?limit=1`, auditor);
      await get(400, `${path}/deliveries?limit=0`, auditor);
      for (const { webhookId } of webhooks) {
        await send(204, "DELETE", `/admin/webhooks/${webhookId}`, undefined, operator);
      }
      for (const unknown of [path, `${path}/deliveries`]) await get(404, unknown, operator);
      for (const unknown of [`${path}/secrets`, `${path}/test`])
        await send(404, "POST", unknown, undefined, operator);
      await send(404, "PATCH", path, { enabled: true });
      await send(404, "DELETE", path, undefined, operator);
    });

    rule("keys", async () => {
      const { apiKey, secretId } = asJson(
        await send(201, "POST", `/admin/websites/${api.website.id}/keys`, {}),
      );
      const path = `/admin/keys/${apiKey}`;
      for (let secrets = 1; secrets < 10; secrets++)
        await send(201, "POST", `${path}/secrets`, undefined, operator);
      await send(409, "POST", `${path}/secrets`, undefined, operator);
      await send(204, "DELETE", `${path}/secrets/${secretId}`, undefined, operator);
      await send(200, "PUT", `${path}/plan`, { tier: "commercial" });
      await send(200, "POST", `${path}/suspend`, { reason: "invoice overdue" });
      await get(200, path, operator);
      await get(200, "/admin/keys", operator);
      for (const path of ["session", "status", "providers", "credentials"])
        await get(200, `/admin/${path}`, operator);
      await send(200, "POST", `${path}/reinstate`, {});
      await get(200, `${path}/history`, operator);
      const speech = { voice: "UK English Female", text: "Held to its word" };
      await send(200, "POST", `${path}/speech`, speech);
      await send(204, "POST", `${path}/speech`, { ...speech, volume: 0 });
    });

    rule("the catalog", async () => {
      const narrator = { name: "Narrator", lang: "en-GB", service: "g1", voiceName: "espeak:gmw/en+f3" };
      const { id } = asJson(await send(201, "POST", "/admin/system-voices", narrator));
      await send(409, "POST", "/admin/system-voices", narrator);
      const voice = { name: "A Narrator", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [id] };
      await send(201, "POST", "/admin/voices", voice);
      await send(409, "POST", "/admin/voices", voice);
      for (const path of ["/admin/voices", "/admin/voices/A%20Narrator", "/admin/system-voices?limit=1"]) {
        await get(200, path, operator);
      }
      const lists = ["voices", "speaking-voices", "system-voices", "keys", "websites", "credentials"];
      for (const path of lists.map((list) => `/admin/${list}`)) {
        await get(400, `${path}?limit=0`, operator);
      }
      await send(200, "PATCH", "/admin/voices/A%20Narrator", { gender: "m" });
      await send(200, "DELETE", "/admin/voices/A%20Narrator", undefined, operator);
      await send(200, "DELETE", `/admin/system-voices/${id}`, undefined, operator);
      await send(404, "DELETE", "/admin/system-voices/999999", undefined, operator);
      await send(200, "PUT", "/admin/voice-choice", { choice: "classic" });
      await send(200, "DELETE", `/admin/audio/${"0".repeat(64)}`, undefined, operator);
      await send(200, "POST", `/admin/audio/${"0".repeat(64)}/purge`, undefined, operator);
    });

    rule("usage and audit", async () => {
      const { apiKey } = api.website;
      await get(200, `/admin/keys/${apiKey}/usage`, operator);
      await get(200, `/admin/keys/${apiKey}/usage?month=2026-01&asOf=2026-01-31`, operator);
      await get(400, `/admin/keys/${apiKey}/usage?month=never`, operator);
      await get(200, "/admin/audit", operator);
      await get(200, `/admin/audit?apiKey=${apiKey}&format=csv`, operator);
      await get(200, `/admin/audit?apiKey=${apiKey}&format=cloudevents`, operator);
      await get(400, "/admin/audit?after=-1", operator);
      await get(404, "/admin/audit?apiKey=vlk_none", operator);
      await get(200, "/admin/events?limit=5", operator);
      await get(200, `/admin/events?apiKey=${apiKey}&type=KeyIssued&from=2026-01-01`, auditor);
      await get(400, "/admin/events?after=-1", operator);
      await get(404, "/admin/events?apiKey=vlk_none", operator);
      await get(200, "/admin/events/counts?from=2026-01-01&to=2026-01-02", operator);
      await get(400, "/admin/events/counts?from=2026-01-01&to=2026-02-01", operator);
      await get(404, "/admin/events/counts?apiKey=vlk_none&from=2026-01-01&to=2026-01-02", operator);
      await get(200, `/admin/keys/${apiKey}/proof?month=2026-01`, auditor);
      await get(400, `/admin/keys/${apiKey}/proof?month=never`, operator);
      await get(404, "/admin/keys/vlk_none/proof?month=2026-01", operator);
      await get(200, "/admin/sounds?from=2026-01-01&to=2026-01-31", operator);
      await get(400, "/admin/sounds?from=2026-01-01&to=2026-12-31", operator);
      const hash = "4e".repeat(32);
      await get(200, `/admin/sounds/${hash}?from=2026-01-01&to=2026-01-31`, auditor);
      await get(400, `/admin/sounds/${hash}?from=never`, operator);
      await get(404, "/admin/sounds/none?from=2026-01-01&to=2026-01-31", operator);
    });

    rule("invalid and too large bodies, unknown resources", async () => {
      for (const { method, path, operation } of operationsOf(api.document)) {
        if (!path.startsWith("/admin/")) continue;
        const nowhere = path.replaceAll(/\{\w+\}/g, "none");
        const [body] = Object.values(operation.requestBody?.content ?? {});
        const headers = { ...operator, ...(body && json) };
        const tooLong = path.replaceAll(/\{\w+\}/g, "x".repeat(201));
        if (path !== tooLong) await send(400, method, tooLong, body?.example, headers);
        if (path !== nowhere && !path.endsWith("/system-voices/{id}")) {
          const required = path.endsWith("/page") ? "?url=https://e.example/" : "";
          await send(404, method, nowhere + required, body?.example, headers);
        }
        if (!body) continue;
        await send(400, method, nowhere, "[", headers);
        if (path === nowhere) await send(400, method, path, { unheardOf: true }, headers);
        await send(413, method, nowhere, oversized, headers);
      }
    });
  });
};
