import type { ProsodyParameter } from "../prosody.ts";
import type { SynthesisQuery } from "./synthesis.ts";

export interface ArticleRequest {
  readonly parts: readonly (Pick<SynthesisQuery, "text" | "voice" | "lang"> & { readonly id: string })[];
  /** They apply to all parts. */
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
  readonly volume?: number | undefined;
}

/** A part of an article, as the service has prepared it. */
export interface ArticlePart {
  readonly id: string;
  readonly state: "ready" | "pending" | "failed";
  /** The address of the audio, without credentials. Absent if nothing of the text is spoken. */
  readonly url?: string;
  /** The duration, if the audio is ready. */
  readonly seconds?: number;
  readonly marks?: string;
  readonly prosodyApplied?: readonly ProsodyParameter[];
  readonly error?: { readonly message: string };
}

export interface Article {
  readonly parts: readonly ArticlePart[];
}
