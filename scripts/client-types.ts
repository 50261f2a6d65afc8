import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");
const client = join(root, "src/client");

/**
 * Writes the declarations of the entries, paths below `src/client` by the names of their files,
 * into `out`. Types that the library derives from the service's are written out in full, so that
 * the package needs neither the service nor zod.
 */
export const writeDeclarations = async (
  out: string,
  entries: Readonly<Record<string, string>>,
  external: readonly string[],
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-declarations-"));
  try {
    for (const [path, text] of emitDeclarations(Object.values(entries))) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const input = Object.entries(entries).map(([name, source]) => [
      name,
      join(folder, "src/client", declarationPath(source)),
    ]);
    const bundle = await rollup({
      input: Object.fromEntries(input),
      external: [...external, "zod"],
      plugins: [dts()],
      onLog: (_, { code, message }) => {
        if (code !== "EMPTY_BUNDLE") throw new Error(message); // an entry may export nothing
      },
    });
    const { output } = await bundle.write({
      dir: out,
      chunkFileNames: "[name].ts",
      entryFileNames: "[name].d.ts",
    });
    for (const chunk of output) {
      const imported = chunk.type === "chunk" ? chunk.imports : [];
      if (imported.includes("zod")) throw new Error(`${chunk.fileName} needs zod.`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** The declarations of each file that the entries import, by their paths in the project. */
const emitDeclarations = (entries: readonly string[]): Map<string, string> => {
  const program = ts.createProgram(
    entries.map((entry) => join(client, entry)),
    { ...optionsOf(client), noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root },
  );
  const emitted = new Map<string, string>();
  program.emit(undefined, (_, text, __, ___, [source] = []) => {
    if (!source) return;
    const types = isDerived(source.fileName, text) ? derivedTypes(program, source) : undefined;
    const declared = (types ?? text).replaceAll(/(["'])(\.{1,2}\/[^"']*)\.ts\1/g, "$1$2.js$1");
    emitted.set(declarationPath(relative(root, source.fileName)), declared);
  });
  return emitted;
};

const declarationPath = (source: string): string => source.replace(/\.ts$/, ".d.ts");

const optionsOf = (folder: string): ts.CompilerOptions => {
  const path = join(folder, "tsconfig.json");
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  return ts.parseJsonConfigFileContent(config, ts.sys, folder).options;
};

/** True for declarations of the client that import others of the service. */
const isDerived = (file: string, text: string): boolean =>
  file.startsWith(`${client}/`) &&
  [...text.matchAll(/from "(\.[^"]*)"/g)].some(
    ([, path = ""]) => !resolve(file, "..", path).startsWith(client),
  );

/** The file's exported types, each in full; undefined if it exports more than types. */
const derivedTypes = (program: ts.Program, source: ts.SourceFile): string | undefined => {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(source);
  const exported = module ? checker.getExportsOfModule(module) : [];
  const types = exported.map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return { name: symbol.name, symbol: target, type: checker.getDeclaredTypeOfSymbol(target) };
  });
  if (types.some(({ symbol }) => symbol.flags & ts.SymbolFlags.Value)) return undefined;
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
    const isObject = type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection);
    return isObject && !checker.isTupleType(type) && type.getCallSignatures().length === 0
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
    const indexed = checker.getIndexInfosOfType(type).map(({ keyType, type: member }) => {
      return `${inner}readonly [name: ${checker.typeToString(keyType)}]: ${write(member, inner)};\n`;
    });
    return `{\n${[...members, ...indexed].join("")}${indent}}`;
  };
  return { comment, inFull };
};
