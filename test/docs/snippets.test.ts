import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { parseDocument } from "yaml";
import { isTyped, pages, readPage, root, snippetsOf } from "./pages.ts";

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) =>
    /^\{.*\}\n\{/s.test(text)
      ? text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : JSON.parse(text),
  yaml: (text) => {
    const { errors } = parseDocument(text);
    if (errors[0]) throw errors[0];
  },
};

/**
 * Run elsewhere (html, css: web-page.test.ts), compared with a file that is run (js), or pictures.
 */
const otherLanguages = ["html", "css", "js", "mermaid", "text", ""];

describe("the snippets of the documents", () => {
  for (const path of pages) {
    const others = snippetsOf(readPage(path)).filter((snippet) => !isTyped(snippet));
    if (others.length === 0) continue;
    it(`are of known languages and can be parsed in ${path}`, () => {
      for (const { language, text } of others) {
        if (!otherLanguages.includes(language)) parsers[language]?.(text);
        expect([...otherLanguages, ...Object.keys(parsers)]).to.include(language);
      }
    });
  }

  it("include the WebSocket example, which is a file", async () => {
    const source = await readFile(join(root, "scripts/examples/websocket.js"), "utf8");
    const [program] = snippetsOf(readPage("docs/use/streaming.md")).filter(
      ({ language }) => language === "js",
    );
    expect(source.slice(source.indexOf("\n") + 1)).to.equal(program?.text);
  });
});
