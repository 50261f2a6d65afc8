import type { LexiconDetails, LexiconSummary } from "../../application/lexicons/lexicons.ts";
import { readPls } from "../../application/lexicons/read-pls.ts";
import { type LexiconRules, lexiconRules } from "../../domain/lexicons/lexicon-rules.ts";
import { lexiconName } from "../../domain/lexicons/lexicons.ts";
import { parse } from "../../domain/validation.ts";
import { fields, table } from "../columns.ts";
import { operator, printing, type Register, writing } from "../command.ts";
import { parseJson, readText } from "../json-file.ts";

export const registerLexiconCommands: Register = (program, { withServices, read, write }) => {
  const lexicons = program.command("lexicons").description("manage how websites' texts are pronounced");

  lexicons
    .command("set <website> <name> <file>")
    .description("set or replace a lexicon from a file with JSON or PLS, or from standard input for -")
    .action(
      printing(summaryText, async (website: string, given: string, file: string) => {
        const name = parse(lexiconName, given);
        const rules = await readRules(file);
        return withServices((services) => services.lexicons.set(website, name, rules, operator), writing);
      }),
    );

  lexicons
    .command("list <website>")
    .description("list a website's lexicons by name")
    .action(read(summaryTable, readsOf, (services, website: string) => services.lexicons.list(website)));

  lexicons
    .command("show <website> <name>")
    .description("show a lexicon and its rules")
    .action(
      read(
        detailsText,
        (website: string, _name: string) => readsOf(website),
        (services, website, name) => services.lexicons.get(website, name),
      ),
    );

  lexicons
    .command("remove <website> <name>")
    .description("remove a lexicon")
    .action(
      write(removedText, async (services, website: string, name: string) => {
        await services.lexicons.remove(website, name, operator);
        return { name, removed: true };
      }),
    );
};

const readsOf = (website: string) => ({ websites: [website], lexicons: [website] });

const readRules = async (file: string): Promise<LexiconRules> => {
  const text = await readText(file);
  return /^\s*</.test(text) ? readPls(text) : parse(lexiconRules, parseJson(text, file));
};

const summaryFields = ({ name, version, lang, ruleCount, digest, setAt }: LexiconSummary) => ({
  lexicon: name,
  version: String(version),
  language: lang ?? "all",
  rules: String(ruleCount),
  digest,
  set: setAt,
});

const summaryText = (lexicon: LexiconSummary): string => fields(summaryFields(lexicon));

const detailsText = (lexicon: LexiconDetails): string => {
  const rules = lexicon.rules.map(({ grapheme, alias = "", phoneme = "" }) => [grapheme, alias, phoneme]);
  return `${summaryText(lexicon)}\n\n${table(["grapheme", "alias", "phoneme"], rules, "")}`;
};

const summaryTable = (all: readonly LexiconSummary[]): string =>
  table(
    ["lexicon", "version", "language", "rules", "set"],
    all.map(({ name, version, lang = "all", ruleCount, setAt }) => [
      name,
      String(version),
      lang,
      String(ruleCount),
      setAt,
    ]),
    "The website has no lexicon.",
  );

const removedText = ({ name }: { name: string }): string => `The lexicon ${name} is removed.`;
