import { expect } from "chai";
import type { CompatibleApi } from "../../../src/http/kernel/compatible-api.ts";
import { operation } from "../../../src/http/kernel/operation.ts";
import { createRouter } from "../../../src/http/kernel/router.ts";
import { anyCaller } from "../../support/operation-server.ts";

const declared = (method: "get" | "post", path: string, auth: "none" | "website" = "website") =>
  operation({
    method,
    path,
    id: `${method} ${path}`,
    tag: "Test",
    summary: "An operation",
    auth,
    responses: { 200: { description: "The result." } },
    handle: () => undefined,
  });

describe("the router", () => {
  const router = createRouter(
    [
      declared("get", "/v2/voices/{name}"),
      declared("get", "/v2/voices"),
      declared("post", "/v2/voices/report"),
      declared("get", "/v1/text:synthesize"),
      declared("get", "/audio/{object}", "none"),
    ],
    anyCaller,
    [{ segment: "other" } as CompatibleApi],
  );
  const templateOf = (method: string, target: string) => router.find(method, target).operation?.template;

  it("finds paths without regard to case, a slash at the end, the query, and the form of the target", () => {
    for (const target of ["/v2/voices", "/V2/Voices", "/v2/voices/", "/v2/voices?name=x", "/v2/voices#part"])
      expect(templateOf("GET", target), target).to.equal("/v2/voices");
    expect(templateOf("GET", "http://voices.example/v2/voices?x=//")).to.equal("/v2/voices");
    for (const target of ["/v2//voices", "/v2/voices//", "/v2/voicesx", "/", "*", "", "/v2/./voices"])
      expect(templateOf("GET", target), target).to.equal(undefined);
  });

  it("finds GET operations for HEAD, and no others", () => {
    expect(templateOf("HEAD", "/v2/voices")).to.equal("/v2/voices");
    expect(templateOf("HEAD", "/v2/voices/report")).to.equal("/v2/voices/:name");
    for (const method of ["OPTIONS", "PUT", "get", "CONNECT"])
      expect(templateOf(method, "/v2/voices"), method).to.equal(undefined);
  });

  it("prefers paths with fewer parameters that have the method, and names the methods of the first", () => {
    expect(templateOf("POST", "/v2/voices/report")).to.equal("/v2/voices/report");
    expect(templateOf("GET", "/v2/voices/report")).to.equal("/v2/voices/:name");
    expect(router.find("PUT", "/v2/voices/report").allow).to.deep.equal(["POST"]);
    expect(router.find("PUT", "/v2/voices").allow).to.deep.equal(["HEAD", "GET"]);
  });

  it("decodes parameters once, and leaves those that are not UTF-8 as they are", () => {
    const nameIn = (text: string) => router.find("GET", `/v2/voices/${text}`).params.name;
    expect(nameIn("UK%20English%20Female")).to.equal("UK English Female");
    expect(nameIn("a%252Fb%2Fc")).to.equal("a%2Fb/c");
    expect(nameIn("%ff")).to.equal("%ff");
    expect(nameIn(":name")).to.equal(":name");
  });

  it("finds a path with a colon also percent-encoded", () => {
    for (const colon of [":", "%3A", "%3a"])
      expect(templateOf("GET", `/v1/text${colon}synthesize`), colon).to.be.a("string");
  });

  it("lets pages read unknown paths of the APIs alone, and knows the API of a path in any case", () => {
    const known = (target: string) => {
      const { cors, api, allow } = router.find("GET", target);
      return [cors, api?.segment, allow.length];
    };
    expect(known("/v2/nowhere")).to.deep.equal(["verified origins", undefined, 0]);
    expect(known("/Other/v1")).to.deep.equal(["verified origins", "other", 0]);
    for (const target of ["/nowhere", "/v3/voices", "/others/v1", "/v1/other"])
      expect(known(target)[1], target).to.equal(undefined);
    expect(known("/nowhere")).to.deep.equal(["same origin", undefined, 0]);
  });
});
