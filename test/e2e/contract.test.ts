import { expect } from "chai";
import type { ErrorResponse } from "../../src/http/kernel/errors/error-response.ts";
import { operationsOf } from "../contracts/http.ts";
import { sendBytes } from "../support/exchange.ts";
import { adminResponses } from "./contract/admin.ts";
import { archivedResponses } from "./contract/archived.ts";
import { audioResponses } from "./contract/audio.ts";
import { describedService, operator } from "./contract/described-service.ts";
import { listResponses } from "./contract/lists.ts";
import { refusalResponses } from "./contract/refusals.ts";

/** The documented responses that this test cannot provoke. */
const unseeable = [
  // The service has no known fault.
  / 500$/,
  // Only POST reaches a provider that can fail here.
  /^GET .* 502$/,
  // The gallery is on.
  /^GET \/voices 404$/,
  // The event store is always available here; test/application covers its failures.
  / 503$/,
];

const withoutDigests = (message: string): string => message.replace(/[0-9a-f]{64}/, "DIGEST");

/** Its parts share one service and one count of the responses that were seen. */
describe("the OpenAPI document", () => {
  const api = describedService();
  const { rule, expectStatus, get } = api;

  audioResponses(api);
  listResponses(api);
  adminResponses(api);
  refusalResponses(api);
  archivedResponses(api);

  describe("as a whole", () => {
    rule("lists every path and method: other paths are 404, other methods 405", async () => {
      for (const path of ["/v2", "/v2/nowhere", "/v1/voices", "/admin", "/docs/assets", "/%"])
        await get(404, path);
      for (const path of ["/v2/voices", "/v2/config", "/v1/text:synthesize", "/health", "/docs"]) {
        const { headers } = await expectStatus(405, { method: "DELETE", path });
        expect(headers.allow, path).to.include("GET");
      }
    });

    it("matches responses that are sent before routing", async () => {
      await get(200, "/health", { Expect: "miracles" });
      await expectStatus(200, { method: "GET", path: "/admin/keys", headers: operator, body: "not JSON" });
      for (const bytes of ["GET /health HTTP/1.1\r\n\r\n", "no request at all\r\n\r\n"]) {
        const [head = "", body = ""] = (await sendBytes(api.service.url, bytes)).split("\r\n\r\n");
        expect(head)
          .to.match(/^HTTP\/1.1 400 /)
          .and.to.match(/^X-Request-Id: [0-9a-f-]{36}\r$/m);
        expect(JSON.parse(body).error).to.include({ statusCode: 400, code: "VALIDATION_ERROR" });
      }
    });

    it("has examples with messages that the service sends", async () => {
      await api.allResponses();
      const responses = [
        ...operationsOf(api.document).flatMap(({ operation }) => Object.values(operation.responses)),
        ...Object.values(api.document.components.responses ?? {}),
      ];
      const shown = responses
        .flatMap((response) => ("content" in response ? Object.values(response.content ?? {}) : []))
        .map(({ example }) => (example as Partial<ErrorResponse> | undefined)?.error)
        .flatMap((error) => (error && error.statusCode < 500 ? [error.message] : []));
      const sent = new Set([...api.refusals].map(withoutDigests));
      const unsent = [...new Set(shown)].filter((message) => !sent.has(withoutDigests(message)));
      expect(unsent).to.deep.equal([]);
    });

    it("documents no response that this test has not seen, except those that it cannot provoke", async () => {
      await api.allResponses();
      const unseen = api.contract
        .unseen()
        .filter((place) => !unseeable.some((pattern) => pattern.test(place)));
      expect(unseen).to.deep.equal([]);
    });
  });
});
