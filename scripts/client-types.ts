import { join, relative } from "node:path";
import ts from "typescript";

/**
 * The declarations of the package: the text of each file that the entries need, by its path from
 * the folder. Types that the library derives from the service's schemas are written out, so that
 * the package needs neither the service nor zod.
 */
export const declarationsOf = (folder: string, entries: readonly string[]): Map<string, string> => {
  const program = ts.createProgram(
    entries.map((entry) => join(folder, entry)),
    { ...optionsOf(folder), noEmit: false, declaration: true, emitDeclarationOnly: true },
  );
  const emitted = new Map<string, string>();
  program.emit(undefined, (_, text, __, ___, sources) => {
    const source = sources?.[0];
    if (!source) return;
    const written = importsOthers(folder, source) ? writeOut(program, source) : text;
    const path = relative(folder, source.fileName).replace(/\.ts$/, ".d.ts");
    emitted.set(path, written.replaceAll(/(["'])(\.{1,2}\/[^"']*)\.ts\1/g, "$1$2.js$1"));
  });
  const needed = new Set(entries.map((entry) => entry.replace(/\.ts$/, ".d.ts")));
  for (const path of needed) {
    for (const imported of importsIn(emitted.get(path) ?? "")) {
      needed.add(join(path, "..", imported).replace(/\.js$/, ".d.ts"));
    }
  }
  return new Map([...needed].map((path) => [path, textOf(emitted, path)]));
};

const optionsOf = (folder: string): ts.CompilerOptions => {
  const path = join(folder, "tsconfig.json");
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  return ts.parseJsonConfigFileContent(config, ts.sys, folder).options;
};

const textOf = (emitted: ReadonlyMap<string, string>, path: string): string => {
  const text = emitted.get(path);
  if (text === undefined) throw new Error(`The declarations need ${path}, which is not part of the client.`);
  return text;
};

const importsIn = (text: string): string[] =>
  [...text.matchAll(/(?:from|import|import\()\s*["'](\.[^"']*)["']/g)].map(([, path = ""]) => path);

/** True if the file imports a file outside of the folder. */
const importsOthers = (folder: string, source: ts.SourceFile): boolean =>
  source.statements.some(
    (statement) =>
      ts.isImportDeclaration(statement) &&
      ts.isStringLiteral(statement.moduleSpecifier) &&
      isOutside(folder, join(source.fileName, "..", statement.moduleSpecifier.text)),
  );

const isOutside = (folder: string, path: string): boolean => relative(folder, path).startsWith("..");

/** The file's exported types, each in full. */
const writeOut = (program: ts.Program, source: ts.SourceFile): string => {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(source);
  const exported = module ? checker.getExportsOfModule(module) : [];
  const types = exported.map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return { name: symbol.name, symbol: target, type: checker.getDeclaredTypeOfSymbol(target) };
  });
  const names = new Map(types.map(({ name, type }) => [type, name]));
  return types
    .map(({ name, symbol, type }) => {
      const write = createWriter(checker, source, names);
      return `${write.comment(symbol, "")}export type ${name} = ${write.inFull(type, "")};\n`;
    })
    .join("");
};

const createWriter = (checker: ts.TypeChecker, at: ts.SourceFile, names: ReadonlyMap<ts.Type, string>) => {
  const comment = (symbol: ts.Symbol, indent: string): string => {
    const lines = ts.displayPartsToString(symbol.getDocumentationComment(checker)).split("\n");
    if (lines.length === 1) return lines[0] === "" ? "" : `${indent}/** ${lines[0]} */\n`;
    return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
  };
  const write = (type: ts.Type, indent: string): string => names.get(type) ?? inFull(type, indent);
  const inFull = (type: ts.Type, indent: string): string => {
    if (type.isUnion() && !(type.flags & ts.TypeFlags.Boolean)) return unionOf(type, indent);
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference);
      const text = item ? write(item, indent) : "unknown";
      return `readonly ${item?.isUnion() ? `(${text})` : text}[]`;
    }
    return type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)
      ? objectOf(type, indent)
      : checker.typeToString(type, at, ts.TypeFormatFlags.NoTruncation);
  };
  /** TypeScript keeps `boolean` in a union as `true` and `false`, and begins with `undefined`. */
  const unionOf = ({ types }: ts.UnionType, indent: string): string => {
    const written = new Set(types.map((type) => write(type, indent)));
    if (written.delete("true") && written.delete("false")) written.add("boolean");
    for (const absent of ["null", "undefined"]) if (written.delete(absent)) written.add(absent);
    return [...written].join(" | ");
  };
  const objectOf = (type: ts.Type, indent: string): string => {
    const inner = `${indent}  `;
    const members = checker.getPropertiesOfType(type).map((member) => {
      const optional = member.flags & ts.SymbolFlags.Optional ? "?" : "";
      const text = write(checker.getTypeOfSymbol(member), inner);
      const name = /^\w+$/.test(member.name) ? member.name : JSON.stringify(member.name);
      return `${comment(member, inner)}${inner}readonly ${name}${optional}: ${text};\n`;
    });
    return `{\n${members.join("")}${indent}}`;
  };
  return { comment, inFull };
};
