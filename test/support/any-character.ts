import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };

/**
 * Any Unicode character. fast-check's `unit: "binary"` gives the same, but fills a map with all
 * characters, which takes 1 s of CPU time and 150 MB in each process.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (character) => indexOf(String(character)),
);

/** @throws if it is not one character, as fast-check demands */
const indexOf = (character: string): number => {
  const codePoint = character.codePointAt(0) ?? Number.NaN;
  if (character !== String.fromCodePoint(codePoint) || !character.isWellFormed())
    throw new Error("not a character");
  return codePoint < surrogates.first ? codePoint : codePoint - surrogates.count;
};
