import { build } from "esbuild";
import { catalog } from "../catalog.ts";
import { monthlyQuota } from "../monthly-quota.ts";
import { rate } from "../rate.ts";

/** A projection that an EventStoreDB server runs itself, for its administrators. */
export interface UserProjection {
  /** `voxledger-{projection}-v{version}`: a new version is a new projection, which starts from zero. */
  readonly name: string;
  /** The name without the version. */
  readonly family: string;
  /** A complete script in the server's projection language. */
  readonly query: string;
}

/** The projections that servers run: the module in `projections/`, its export, and the streams that the script reads. */
const table = [
  { projection: catalog, module: "catalog", exported: "catalog", source: 'fromStream("catalog")' },
  { projection: monthlyQuota, module: "monthly-quota", exported: "monthlyQuota", source: "fromAll()" },
  { projection: rate, module: "rate", exported: "rate", source: "fromAll()" },
];

/** Bundles the folds of the service's own views. */
export const userProjections = (): Promise<UserProjection[]> => Promise.all(table.map(toUserProjection));

const toUserProjection = async (row: (typeof table)[number]): Promise<UserProjection> => {
  const { name, version } = row.projection;
  const family = `voxledger-${name}-v`;
  return { family, name: `${family}${version}`, query: await bundle(row) };
};

/** Servers from 23.10 on run scripts in Jint, whose oldest version supports ECMAScript 2015 without generators. */
const target = "es2015";

const bundle = async ({ module, exported, source }: (typeof table)[number]): Promise<string> => {
  const contents = `
    import { ${exported} } from "../${module}.ts";
    import { declare } from "./declaration.ts";
    declare(${exported}, ${source});`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    platform: "neutral",
    minifySyntax: true,
    target,
    charset: "utf8",
    legalComments: "none",
    write: false,
    banner: {
      js: `// The projection "${module}" of Voxledger, generated from projections/${module}.ts. Do not edit.`,
    },
    tsconfigRaw: {},
  });
  return outputFiles[0]?.text ?? "";
};
