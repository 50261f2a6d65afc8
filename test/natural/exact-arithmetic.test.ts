import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import ts from "typescript";

/**
 * IEEE 754 defines their results to the last bit; those of all others differ between engines and
 * versions of V8.
 */
const exact = new Set(
  ["abs", "ceil", "clz32", "floor", "fround", "imul", "max", "min", "round", "sign", "sqrt", "trunc"].concat([
    "PI",
    "E",
    "LN2",
    "LN10",
    "LOG2E",
    "LOG10E",
    "SQRT2",
    "SQRT1_2",
  ]),
);

/** Uses of `Math` with results that are not defined, and of the power operator. */
const inexactUses = (text: string): string[] => {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === "Math") {
      const use = node.parent;
      if (!ts.isPropertyAccessExpression(use) || !exact.has(use.name.text)) found.push(use.getText());
    }
    if (
      node.kind === ts.SyntaxKind.AsteriskAsteriskToken ||
      node.kind === ts.SyntaxKind.AsteriskAsteriskEqualsToken
    ) {
      found.push(node.parent.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

describe("The arithmetic of natural voices", () => {
  const source = new URL("../../src/", import.meta.url);
  const files = ["natural/", "domain/text/", "domain/elementary.ts", "pcm/"].flatMap((path) =>
    path.endsWith(".ts")
      ? [path]
      : readdirSync(new URL(path, source), { recursive: true, encoding: "utf8" })
          .filter((name) => name.endsWith(".ts"))
          .map((name) => `${path}${name}`),
  );

  for (const file of files) {
    it(`uses no function in ${file} whose result differs between JavaScript engines`, () => {
      expect(inexactUses(readFileSync(new URL(file, source), "utf8"))).to.deep.equal([]);
    });
  }

  it("is checked for every way to use such a function", () => {
    expect(inexactUses("Math.exp(1); const { sin } = Math; Math['cos'](2); 2 ** x; x **= 2;")).to.deep.equal([
      "Math.exp",
      "{ sin } = Math",
      "Math['cos']",
      "2 ** x",
      "x **= 2",
    ]);
    expect(inexactUses("Math.sqrt(Math.PI) * Math.floor(x)")).to.deep.equal([]);
  });
});
