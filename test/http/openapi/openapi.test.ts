import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect } from "chai";
import { headerNames } from "../../../src/http/kernel/header-names.ts";
import { describeApi } from "../../../src/http/openapi/document.ts";
import { synthesizeRequest } from "../../../src/http/routes/synthesis/request.ts";

const describeWith = (settings: { prefix?: string; publicUrl?: string; maxTextCharacters?: number } = {}) =>
  describeApi({
    schema: synthesizeRequest(settings.maxTextCharacters ?? 5_000),
    names: headerNames(settings.prefix ?? "SVC"),
    publicUrl: settings.publicUrl,
  });

/** The schemas that the interface names, and some that it leaves to us. */
const namesOfTheInterface = [
  ...["Voice", "VoiceWithLinks", "SystemVoice", "TTSService", "AudioFormat", "VoiceGender"],
  ...["HrefLink", "SynthesizeLink", "SynthesizeStreamLink", "StreamWebsocketLink"],
  ...["VoiceLinks", "VoiceDetailLinks", "CollectionLinks", "ByLanguageLinks"],
  ...["VoicesListResponse", "VoicesByLanguageResponse", "VoiceDetailResponse"],
  ...["HealthStatus", "ErrorResponse", "ApiError", "SynthesizeRequest"],
  ...["WebsiteConfig", "WebsiteFeatures", "WebPlayerFeature", "WebsiteVoice", "AuthToken"],
  ...["PlatformReport", "BrowserVoiceInfo", "VoiceReportRequest", "VoiceReportResponse"],
];

describe("the OpenAPI document", () => {
  it("has nothing that a public linter would change", async () => {
    const config = await createConfig({
      extends: ["recommended-strict"],
      // What anyone may ask without a parameter refuses nothing: /health, /openapi.json, /client.js and /docs.
      rules: { "operation-4xx-response": "off" },
    });
    const source = JSON.stringify(describeWith());
    const found = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    // A handshake that succeeds is answered with 101.
    const problems = found.filter(
      ({ ruleId, location }) =>
        ruleId !== "operation-2xx-response" || !location[0]?.pointer?.includes("~1v2~1text~1stream/"),
    );
    expect(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).to.deep.equal([]);
  }).timeout(30_000);

  it("describes version 2.1.0 in OpenAPI 3.1, under the interface's own names", () => {
    const { openapi, info, components } = describeWith();
    expect({ openapi, version: info.version }).to.deep.equal({ openapi: "3.1.0", version: "2.1.0" });
    expect(Object.keys(components?.schemas ?? {})).to.include.members(namesOfTheInterface);
  });

  it("says where the API is: under PUBLIC_URL, or where the document is", () => {
    expect(describeWith({ publicUrl: "https://speech.example/tts" }).servers).to.deep.equal([
      { url: "https://speech.example/tts" },
    ]);
    expect(describeWith().servers).to.deep.equal([{ url: "/" }]);
  });

  it("tells the headers under the operator's prefix, and the longest text that is taken", () => {
    const text = JSON.stringify(describeWith({ prefix: "Acme", maxTextCharacters: 123 }));
    expect(text).to.include('"Acme-Cached"').and.to.include('"X-Acme-Auth-Renewed"');
    expect(text).to.not.include("SVC-");
    expect(text).to.include('"maxLength":123');
  });

  it("is the same text however often it is made", () => {
    expect(JSON.stringify(describeWith())).to.equal(JSON.stringify(describeWith()));
  });

  it("describes 401 and 429 for every operation that needs credentials", () => {
    const operations = Object.values(describeWith().paths ?? {}).flatMap((path) => Object.values(path));
    const authenticated = operations.filter(({ security }) => security.length > 0);
    expect(authenticated).to.have.length.above(30);
    for (const { operationId, responses } of authenticated) {
      expect(responses, operationId).to.include.keys("401", "429");
    }
  });

  it("names each operation once", () => {
    const ids = Object.values(describeWith().paths ?? {}).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).to.equal(ids.length);
  });
});
