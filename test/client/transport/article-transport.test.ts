import { expect } from "chai";
import type { ArticlePart, ArticleRequest } from "../../../src/client/api/articles.ts";
import type { OpenedAudio } from "../../../src/client/api/synthesis.ts";
import { VoxledgerError } from "../../../src/client/errors.ts";
import type { SpokenPart } from "../../../src/client/playback/speech-backend.ts";
import { createArticleTransports } from "../../../src/client/transport/article-transport.ts";
import { rejection } from "../../support/rejection.ts";

const voice = { voice: undefined, lang: "en", prosody: { pitch: 1, rate: 1, volume: 1 } };
const partsOf = (count: number, text = (index: number) => `Part ${index}.`): SpokenPart[] =>
  Array.from({ length: count }, (_, index) => ({
    part: { index, charIndex: index * 20, text: text(index) },
    voice,
  }));

const silence: OpenedAudio = {
  ...{ contentType: "audio/mpeg", prosodyApplied: [], whole: true, received: Promise.resolve() },
  audio: (async function* () {})(),
};

const { signal } = new AbortController();

const prepared = ({ parts }: ArticleRequest): ArticlePart[] =>
  parts.map(({ id }) => ({ id, state: "pending", url: `https://audio.example/${id}` }));

/** A service that prepares everything, unless the test defines its responses. */
const open = ({
  respond = prepared,
  load = () => {},
  speak = () => {},
}: {
  respond?: (request: ArticleRequest) => ArticlePart[];
  load?: (part: ArticlePart) => void;
  speak?: () => void;
} = {}) => {
  const requests: ArticleRequest[] = [];
  const loaded: (string | undefined)[] = [];
  const singles: string[] = [];
  const transports = createArticleTransports({
    api: {
      prepareArticle: async (request) => {
        requests.push(request);
        return { parts: respond(request) };
      },
      loadPart: async (part) => {
        load(part);
        loaded.push(part.url);
        return silence;
      },
    },
    single: async ({ text }) => {
      speak();
      singles.push(text);
      return silence;
    },
  });
  const read = async (parts: readonly SpokenPart[]): Promise<void> => {
    const transport = transports(parts);
    for (const { part, voice } of parts) await transport(part, voice, signal);
  };
  return { read, requests, loaded, singles };
};

describe("the transport of an article", () => {
  it("prepares all parts with one request, and loads each from its address", async () => {
    const { read, requests, loaded } = open();
    await read(partsOf(38));
    expect(requests.map(({ parts }) => parts.length)).to.deep.equal([38]);
    expect(loaded).to.have.length(38);
  });

  it("asks for at most 200 parts and 100,000 characters at once, and for more when they are reached", async () => {
    const many = open();
    await many.read(partsOf(201));
    expect(many.requests.map(({ parts }) => parts.length)).to.deep.equal([200, 1]);
    const long = open();
    await long.read(partsOf(3, (index) => `${index}${"🚂".repeat(49_999)}`));
    expect(long.requests.map(({ parts }) => parts.length)).to.deep.equal([2, 1]);
  });

  it("remembers the addresses for the next reading", async () => {
    const { read, requests, loaded } = open();
    await read(partsOf(4));
    await read(partsOf(4).slice(2));
    expect(requests).to.have.length(1);
    expect(loaded).to.have.length(6);
  });

  it("asks again for an address that leads nowhere any more", async () => {
    let isGone = true;
    const { read, requests, loaded } = open({
      load: () => {
        if (isGone) throw new VoxledgerError("There is no such audio.", { status: 404, code: "NOT_FOUND" });
      },
      respond: (request) => {
        isGone = requests.length === 1;
        return prepared(request);
      },
    });
    await read(partsOf(1));
    expect(requests).to.have.length(2);
    expect(loaded).to.have.length(1);
  });

  it("synthesizes each part by itself with a service that has no articles", async () => {
    const { read, requests, singles } = open({
      respond: () => {
        throw new VoxledgerError("Not found.", { status: 404, code: "NOT_FOUND" });
      },
    });
    await read(partsOf(3));
    await read(partsOf(3));
    expect(requests).to.have.length(1);
    expect(singles).to.have.length(6);
  });

  it("requests articles again after one whose voices the service lacks", async () => {
    const notFound = () => {
      throw new VoxledgerError("There is no such voice.", { status: 404, code: "NOT_FOUND" });
    };
    let isVoiceMissing = true;
    const { read, requests, singles, loaded } = open({
      respond: (request) => (isVoiceMissing ? notFound() : prepared(request)),
      speak: () => isVoiceMissing && notFound(),
    });
    expect(await rejection(read(partsOf(2)))).to.include({ status: 404 });
    const before = requests.length;
    isVoiceMissing = false;
    await read(partsOf(2, (index) => `Another part ${index}.`));
    expect(requests).to.have.length(before + 1);
    expect(singles).to.deep.equal([]);
    expect(loaded).to.have.length(2);
  });

  it("fails for a part that no voice speaks, and with a refusal of the service", async () => {
    const failing = open({
      respond: ({ parts }) =>
        parts.map(({ id }) => ({ id, state: "failed", error: { message: "No voice." } })),
    });
    expect(await rejection(failing.read(partsOf(1)))).to.include({ message: "No voice.", code: "NOT_FOUND" });
    const refusing = open({
      respond: () => {
        throw new VoxledgerError("The quota is used up.", { status: 403 });
      },
    });
    expect(await rejection(refusing.read(partsOf(2)))).to.include({ status: 403 });
    expect(await rejection(refusing.read(partsOf(2)))).to.include({ status: 403 });
    expect(refusing.requests).to.have.length(2);
    expect(refusing.singles).to.deep.equal([]);
  });
});
