import { expect } from "chai";
import { type FoundOperation, operationsOf } from "../../contracts/http.ts";
import { admin, authorize, registerWebsite } from "../../support/client.ts";
import type { Sent } from "../../support/exchange.ts";
import { auditor, type DescribedApi } from "./described-service.ts";

/** Part of contract.test.ts, which counts the responses of all parts. */
export const refusalResponses = (api: DescribedApi): void => {
  const { rule, ask, expectStatus, requestsOfWebsites, as } = api;

  describe("matches the refusals of callers", () => {
    const allowsAnyone = ({ operation }: FoundOperation): boolean =>
      operation.security?.some((scheme) => Object.keys(scheme).length === 0) ?? false;

    /** A request without credentials for every operation that requires them. */
    const unauthenticated = (): Sent[] => [
      ...requestsOfWebsites(operationsOf(api.document).filter((found) => !allowsAnyone(found))),
      ...operationsOf(api.document)
        .filter(({ path }) => path.startsWith("/admin/"))
        .map(({ method, path }) => ({ method, path: path.replaceAll(/\{\w+\}/g, "x") })),
    ];

    rule("without credentials", async () => {
      for (const sent of unauthenticated()) await expectStatus(401, sent);
    });

    rule("with an auditor's token, which can only read", async () => {
      for (const { method, path, operation } of operationsOf(api.document)) {
        const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
        if (!schemes.includes("adminToken")) continue;
        const sent = { method, path: path.replaceAll(/\{\w+\}/g, "x"), headers: auditor };
        const { status } = await ask(sent);
        expect(status === 403, path).to.equal(!schemes.includes("auditorToken"));
      }
    });

    rule("with a suspended key, which can only read its configuration and its usage", async () => {
      const suspended = await registerWebsite(api.service.url);
      await admin(api.service.url, "POST", `/keys/${suspended.apiKey}/suspend`, {
        reason: "invoice overdue",
      });
      for (const sent of requestsOfWebsites()) {
        const isReadable = /\/(config|usage|v1\/user)\b/.test(sent.path);
        await expectStatus(isReadable ? 200 : 403, as(sent, authorize(suspended)));
      }
    });

    /** Repeats more than twice, because a new minute may begin at any time. */
    const repeatUntilTooMany = async (sent: Sent): Promise<void> => {
      let status = 0;
      while (status !== 429) ({ status } = await ask(sent));
    };

    rule("with a key over its rate limit", async () => {
      const busy = await registerWebsite(api.service.url, { requestsPerMinute: 1 });
      for (const sent of requestsOfWebsites()) await repeatUntilTooMany(as(sent, authorize(busy)));
    });

    rule("from an address with too many wrong secrets", async () => {
      const verification = { method: "POST", path: "/v2/auth/verify-origin" };
      const guess = { Authorization: "Bearer vlk_guessed.guessed", "X-Forwarded-For": "198.51.100.1" };
      const open = requestsOfWebsites(operationsOf(api.document).filter(allowsAnyone));
      for (const sent of open) await expectStatus(401, as(sent, guess));
      for (const sent of [...unauthenticated(), ...open, verification])
        await repeatUntilTooMany(as(sent, guess));
      await expectStatus(429, as({ method: "GET", path: "/health" }, guess));
    });
  });
};
