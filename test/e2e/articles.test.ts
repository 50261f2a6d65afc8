import { expect } from "chai";
import { authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

interface PartResponse {
  readonly id: string;
  readonly state: "ready" | "pending" | "failed";
  readonly url?: string;
  readonly characters: number;
  readonly seconds?: number;
  readonly marks?: string;
}

interface ArticleResponse {
  readonly parts: readonly PartResponse[];
  readonly total: { readonly characters: number; readonly seconds: number; readonly exact: boolean };
}

const voice = "UK English Female";

const prepare = async (
  url: string,
  website: Credentials,
  texts: readonly string[],
  more: object = {},
): Promise<{ readonly response: Response; readonly article: ArticleResponse }> => {
  const response = await fetch(`${url}/v2/articles`, {
    method: "POST",
    headers: { ...authorize(website), "Content-Type": "application/json" },
    body: JSON.stringify({ voice, parts: texts.map((text, id) => ({ id: `p${id}`, text })), ...more }),
  });
  return { response, article: (await response.json()) as ArticleResponse };
};

describe("an article", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let website: Credentials;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder.path);
    website = await registerWebsite(service.url);
  });
  after(async () => {
    await service.stop();
    await folder.remove();
  });

  it("is prepared by one request, and its audio is pulled by anybody", async () => {
    const { response, article } = await prepare(service.url, website, [
      "The first part.",
      "The second part.",
    ]);
    expect(response.status).to.equal(200);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    console.log(JSON.stringify(article, null, 1));
    for (const { url = "" } of article.parts) {
      const audio = await fetch(url);
      expect(audio.status).to.equal(200);
      expect(audio.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      console.log((await audio.arrayBuffer()).byteLength);
    }
    const again = await prepare(service.url, website, ["The first part.", "The second part."]);
    console.log(JSON.stringify(again.article, null, 1));
  });
});
