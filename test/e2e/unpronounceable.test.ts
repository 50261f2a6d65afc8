import { expect } from "chai";
import { authorize, errorOf, registerWebsite, synthesize, synthesizeByPost } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startService, temporaryFolder } from "../support/service.ts";

const quenya = { lang: "qya", engine: "g1", text: "0" };

describe("text that the voice cannot pronounce", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path));
  const website = duringSuite(() => registerWebsite(service.url));

  const doors: Readonly<Record<string, () => Promise<Response>>> = {
    "GET /v2/text/synthesize": () => synthesize(service.url, website, quenya),
    "POST /v2/text/synthesize": () => synthesizeByPost(service.url, website, quenya),
    "GET /v1/text:synthesize": () =>
      fetch(`${service.url}/v1/text:synthesize?${new URLSearchParams(quenya)}`, {
        headers: authorize(website),
      }),
  };
  for (const [door, ask] of Object.entries(doors)) {
    it(`is refused with 400 and the path of the text: ${door}`, async () => {
      const response = await ask();
      expect(response.status).to.equal(400);
      const { code, errors } = await errorOf(response);
      expect(code).to.equal("VALIDATION_ERROR");
      expect(errors?.map(({ path }) => path)).to.deep.equal([["text"]]);
    });
  }

  it("is refused like a text whose letters would be spelled for hours, without a charge", async () => {
    const spelled = { voice: "UK English Male", text: "㊗".repeat(5_000) };
    const response = await synthesizeByPost(service.url, website, spelled);
    expect(response.status).to.equal(400);
    expect((await errorOf(response)).errors?.map(({ path }) => path)).to.deep.equal([["text"]]);
    const usage = await fetch(`${service.url}/v2/usage`, { headers: authorize(website) });
    expect(await usage.json()).to.include({ used: 0, requests: 0 });
  });
});
