import { expect } from "chai";
import { Voxledger } from "../../src/client/voxledger.ts";
import { admin, type Credentials, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";

const origin = "https://news.example";
const paragraphs = Array.from({ length: 30 }, (_, index) => ({
  text: `Paragraph ${index + 1} of an article.`,
  lang: "en",
}));
const characters = paragraphs.reduce((sum, { text }) => sum + text.length, 0);

interface Exchange {
  readonly path: string;
  readonly status: number;
}

/** A reader's browser, which plays at once what it receives. */
const openReader = (url: string, apiKey: string, address: string) => {
  const exchanges: Exchange[] = [];
  const played: number[] = [];
  const send: typeof fetch = async (input, init = {}) => {
    const headers = { ...(init.headers as object), Origin: origin, "X-Forwarded-For": address };
    const response = await fetch(input, { ...init, headers });
    exchanges.push({ path: new URL(String(input)).pathname, status: response.status });
    return response;
  };
  const voxledger = new Voxledger(
    { apiKey, baseUrl: url },
    { fetch: send, player: ({ bytes }) => void played.push(bytes.length) },
  );
  return { voxledger, exchanges, played };
};

describe("an article with many readers", () => {
  const service = duringSuite(() => startServiceForBrowser({ TRUST_PROXY: "127.0.0.1" }));

  const registerNews = async (): Promise<Credentials> => {
    const website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [origin] });
    return website;
  };
  const charged = async ({ apiKey }: Credentials): Promise<number> => {
    const { body } = await admin(service.url, "GET", `/keys/${apiKey}/usage`);
    return (body as unknown as { characters: number }).characters;
  };

  it("takes one request of each, on the free plan, and charges each part once for all", async () => {
    const website = await registerNews();
    const readers = Array.from({ length: 50 }, (_, index) =>
      openReader(service.url, website.apiKey, `10.0.0.${index + 1}`),
    );
    await Promise.all(readers.map(({ voxledger }) => voxledger.speakArticle(paragraphs)));
    for (const { exchanges, played } of readers) {
      expect(played).to.have.length(paragraphs.length);
      const counted = exchanges.filter(({ path }) => path.startsWith("/v2/"));
      expect(counted.map(({ path }) => path)).to.deep.equal(["/v2/config", "/v2/articles"]);
      expect(exchanges.filter(({ status }) => status !== 200)).to.deep.equal([]);
    }
    expect(await charged(website)).to.equal(characters);
    for (const { voxledger } of readers) voxledger.close();
  });

  it("needs no further request to be read again from another place", async () => {
    const website = await registerNews();
    const { voxledger, exchanges } = openReader(service.url, website.apiKey, "10.0.1.1");
    await voxledger.speakArticle(paragraphs);
    await voxledger.speakArticle(paragraphs.slice(10));
    expect(exchanges.filter(({ path }) => path === "/v2/articles")).to.have.length(1);
    voxledger.close();
  });

  it("is prepared as it is read, if it is longer than a request may be", async () => {
    const website = await registerNews();
    const { voxledger, exchanges, played } = openReader(service.url, website.apiKey, "10.0.1.2");
    const long = Array.from({ length: 201 }, (_, index) => ({ text: `Line ${index}.`, lang: "en" }));
    const atRequest: number[] = [];
    voxledger.on("OnPartEnd", () => {
      atRequest.push(exchanges.filter(({ path }) => path === "/v2/articles").length);
    });
    await voxledger.speakArticle(long);
    expect(played).to.have.length(201);
    expect([atRequest[0], atRequest.at(-1)]).to.deep.equal([1, 2]);
    voxledger.close();
  });

  it("is downloaded for no further charge", async () => {
    const website = await registerNews();
    const { voxledger } = openReader(service.url, website.apiKey, "10.0.1.3");
    const types: string[] = [];
    for await (const { type } of voxledger.articleAudio(paragraphs)) types.push(type);
    const before = await charged(website);
    await voxledger.speakArticle(paragraphs);
    expect(await charged(website))
      .to.equal(before)
      .and.to.equal(characters);
    expect(types).to.deep.equal(paragraphs.map(() => "audio/mpeg"));
    voxledger.close();
  });
});
