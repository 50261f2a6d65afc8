import { type OnnxSession, Tensor } from "../onnx/session.ts";
import type { FrontEnd } from "../phonemes.ts";
import { englishFilesOf } from "./files.ts";
import { indexJson } from "./json-index.ts";
import type { Accent } from "./lexicon.ts";
import { createEnglishReader } from "./reader.ts";

interface EnglishFiles {
  /** Reads a file of `hibari/assets`. */
  readonly read: (name: string) => Promise<Uint8Array<ArrayBuffer>>;
  readonly openModel: (model: Uint8Array<ArrayBuffer>) => Promise<OnnxSession>;
}

/** @throws if a file is missing or damaged */
export const loadEnglish = async (accent: Accent, { read, openModel }: EnglishFiles): Promise<FrontEnd> => {
  const [gold, silver, tagger, exceptions, network, symbols] = await Promise.all(
    englishFilesOf(accent).map(read),
  );
  if (!gold || !silver || !tagger || !exceptions || !network || !symbols)
    throw new Error("A file is missing.");
  const [goldJson, silverJson, taggerJson] = await Promise.all([gold, silver, tagger].map(gunzip));
  const session = await openModel(network);
  return createEnglishReader({
    accent,
    gold: indexJson(goldJson ?? gold),
    silver: indexJson(silverJson ?? silver),
    tagger: indexJson(taggerJson ?? tagger),
    exceptions: new Map(Object.entries(parse(exceptions) as Record<string, string[]>)),
    spellUnknown: createSpellUnknown(session, parse(symbols) as UnknownWordSymbols),
  });
};

const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

const gunzip = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

/** The phonemes of a word that no lexicon has, from its letters. */
type SpellUnknown = (letters: string) => Promise<string>;

/** The letters and phonemes of a network, in the order of its numbers, from 1. */
interface UnknownWordSymbols {
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly maxlen: number;
}

/**
 * The network returns several symbols per letter. Equal neighbours count once, and 0 is no symbol.
 */
const createSpellUnknown = (session: OnnxSession, symbols: UnknownWordSymbols): SpellUnknown => {
  const numbers = new Map(symbols.in.map((letter, at) => [letter, BigInt(at + 1)]));
  const spellPart = async (part: readonly bigint[]): Promise<string> => {
    const input = new Tensor("int64", BigInt64Array.from(part), [1, part.length]);
    const outputs = await session.run({ chars: input });
    const found = Array.from(outputs[session.outputs[0] ?? ""]?.data as BigInt64Array, Number);
    return found
      .map((symbol, at) => (symbol === found[at - 1] ? "" : (symbols.out[symbol - 1] ?? "")))
      .join("");
  };
  return async (letters) => {
    const known = Array.from(letters).flatMap((letter) => {
      const plain = letter.normalize("NFD").charAt(0);
      return numbers.get(letter) ?? numbers.get(plain) ?? [];
    });
    const parts: string[] = [];
    for (let at = 0; at < known.length; at += symbols.maxlen)
      parts.push(await spellPart(known.slice(at, at + symbols.maxlen)));
    return parts.join(" ");
  };
};
