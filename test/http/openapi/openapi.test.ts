import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect } from "chai";
import { describedApi } from "../../support/described-api.ts";

/** The schemas that the API specification names, and some that it leaves to the service. */
const specifiedSchemas = [
  ...["Voice", "VoiceWithLinks", "SystemVoice", "TTSService", "AudioFormat", "VoiceGender"],
  ...["HrefLink", "SynthesizeLink", "SynthesizeStreamLink", "StreamWebsocketLink"],
  ...["VoiceLinks", "VoiceDetailLinks", "CollectionLinks", "ByLanguageLinks"],
  ...["VoicesListResponse", "VoicesByLanguageResponse", "VoiceDetailResponse"],
  ...["HealthStatus", "ErrorResponse", "ApiError", "SynthesizeRequest"],
  ...["WebsiteConfig", "WebsiteFeatures", "WebPlayerFeature", "WebsiteVoice", "AuthToken"],
  ...["PlatformReport", "BrowserVoiceInfo", "VoiceReportRequest", "VoiceReportResponse"],
];

const operations = () => Object.values(describedApi().paths ?? {}).flatMap((path) => Object.values(path));

describe("the OpenAPI document", () => {
  it("passes Redocly's strict rules", async () => {
    const config = await createConfig({
      extends: ["recommended-strict"],
      // Operations without credentials and parameters have no client errors.
      rules: { "operation-4xx-response": "off" },
    });
    const source = JSON.stringify(describedApi());
    const found = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    // A successful handshake gets 101.
    const problems = found.filter(
      ({ ruleId, location }) =>
        ruleId !== "operation-2xx-response" || !location[0]?.pointer?.includes("~1v2~1text~1stream/"),
    );
    expect(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).to.deep.equal([]);
  });

  it("describes version 2.1.0 of the API in OpenAPI 3.1, with the specified schema names", () => {
    const { openapi, info, components } = describedApi();
    expect({ openapi, version: info.version }).to.deep.equal({ openapi: "3.1.0", version: "2.1.0" });
    expect(Object.keys(components?.schemas ?? {})).to.include.members(specifiedSchemas);
  });

  it("names PUBLIC_URL as the server, or else the host of the document", () => {
    expect(describedApi({ publicUrl: "https://speech.example/tts" }).servers).to.deep.equal([
      { url: "https://speech.example/tts" },
    ]);
    expect(describedApi().servers).to.deep.equal([{ url: "/" }]);
  });

  it("uses the configured header prefix and the configured maximum length of a text", () => {
    const text = JSON.stringify(describedApi({ prefix: "Acme", maxTextCharacters: 123 }));
    expect(text).to.include('"Acme-Cached"').and.to.include('"X-Acme-Auth-Renewed"');
    expect(text).to.not.include("SVC-");
    expect(text).to.include('"maxLength":123');
  });

  it("is the same text every time it is generated", () => {
    expect(JSON.stringify(describedApi())).to.equal(JSON.stringify(describedApi()));
  });

  it("describes 401 and 429 for every operation that requires credentials", () => {
    // /health ignores unknown tokens.
    const authenticated = operations().filter(
      ({ security, operationId }) => security.length > 0 && operationId !== "checkHealth",
    );
    expect(authenticated).to.have.length.above(30);
    for (const { operationId, responses } of authenticated) {
      expect(responses, operationId).to.include.keys("401", "429");
    }
  });

  it("gives each operation a unique operationId", () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
  });
});
