import { type OnnxSession, Tensor } from "../onnx/session.ts";

/** The phonemes of a word that no lexicon has, from its letters. */
export type SpellUnknown = (letters: string) => Promise<string>;

/** The letters and phonemes of a network, in the order of its numbers, from 1. */
export interface UnknownWordSymbols {
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly maxlen: number;
}

/** The network gives several symbols per letter: equal neighbours are one, and 0 is none. */
export const createSpellUnknown = (session: OnnxSession, symbols: UnknownWordSymbols): SpellUnknown => {
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
