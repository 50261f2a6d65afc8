import { authorize, type Credentials } from "./client.ts";

export interface PartResponse {
  readonly id: string;
  readonly state: "ready" | "pending" | "failed";
  readonly url?: string;
  readonly characters: number;
  readonly seconds?: number;
  readonly marks?: string;
  readonly voice?: string;
  readonly error?: { readonly message: string };
}

export interface ArticleResponse {
  readonly format?: string;
  readonly parts: readonly PartResponse[];
  readonly total: { readonly characters: number; readonly seconds: number; readonly exact: boolean };
}

export const articleOf = (texts: readonly string[], more: object = {}) => ({
  voice: "UK English Female",
  parts: texts.map((text, index) => ({ id: `p${index}`, text })),
  ...more,
});

/** POST /v2/articles. */
export const postArticle = (url: string, website: Credentials, body: unknown): Promise<Response> =>
  fetch(`${url}/v2/articles`, {
    method: "POST",
    headers: { ...authorize(website), "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** Prepares an article of these texts. */
export const prepareArticle = async (
  url: string,
  website: Credentials,
  texts: readonly string[],
  more: object = {},
): Promise<ArticleResponse> => {
  const response = await postArticle(url, website, articleOf(texts, more));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the article was refused: ${text}`);
  return JSON.parse(text);
};

export const urlsOf = ({ parts }: ArticleResponse): string[] => parts.flatMap(({ url }) => url ?? []);
