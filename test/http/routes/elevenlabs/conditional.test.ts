import { expect } from "chai";
import { admin, authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../../support/in-process-service.ts";

const paths = [
  "/v1/voices",
  "/v1/voices/UK_English_Female",
  "/v2/voices?page_size=2&search=en",
  "/v1/models",
];

describe("conditional requests of ElevenLabs' API", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  const get = (path: string, headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
    ask(`${service.url}/elevenlabs${path}`, { headers: { ...authorize(website), ...headers } });

  for (const path of paths) {
    it(`get a 304 for an unchanged ${path}`, async () => {
      const { status, headers, text } = await get(path);
      expect(status).to.equal(200);
      expect(JSON.parse(text)).to.not.equal(null);
      expect(headers["cache-control"]).to.equal("private, no-cache");
      expect(headers.etag).to.match(/^"[\w-]{43}"$/);
      const unchanged = await get(path, { "If-None-Match": headers.etag ?? "" });
      expect([unchanged.status, unchanged.text, unchanged.headers.etag]).to.deep.equal([
        304,
        "",
        headers.etag,
      ]);
      expect(unchanged.headers.vary).to.include("xi-api-key");
    });
  }

  it("get the new list after a change", async () => {
    const etag = (await get("/v1/voices")).headers.etag ?? "";
    const voice = { name: "A new voice", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [301] };
    expect((await admin(service.url, "POST", "/voices", voice)).status).to.equal(201);
    const changed = await get("/v1/voices", { "If-None-Match": etag });
    expect(changed.status).to.equal(200);
    expect(changed.text).to.include("A new voice");
  });
});
