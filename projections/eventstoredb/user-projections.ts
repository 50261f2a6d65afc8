import { streamNames } from "../../src/eventstore/stream-prefix.ts";
import { catalogEntries } from "../catalog-entries.ts";
import { monthlyQuota } from "../monthly-quota.ts";
import type { Projection } from "../projection.ts";
import { rate } from "../rate.ts";

/** A projection that an EventStoreDB server runs itself, for its administrators. */
export interface UserProjection {
  /**
   * `voxledger-{prefix.}{projection}-v{version}`: a new version is a new projection, which starts
   * from zero.
   */
  readonly name: string;
  /** The name without the version. */
  readonly family: string;
  /** A complete script in the server's projection language. */
  readonly query: string;
}

interface Row {
  readonly projection: Projection<unknown>;
  /** The name on the server. Default: that of the projection. */
  readonly name?: string;
  /** The module in `projections/`, and its export. */
  readonly module: string;
  readonly exported: string;
  /** The shapes of the events that it folds: a module in `src/domain/`, and its export. */
  readonly shapes: readonly [module: string, exported: string];
  /** The only stream that the script reads. Default: all. */
  readonly stream?: string;
}

/** The projections that servers run. */
const table: readonly Row[] = [
  {
    projection: catalogEntries,
    name: "catalog",
    module: "catalog-entries",
    exported: "catalogEntries",
    shapes: ["catalog/event-shapes", "catalogShapes"],
    stream: "catalog",
  },
  {
    projection: monthlyQuota,
    module: "monthly-quota",
    exported: "monthlyQuota",
    shapes: ["ledger/accounts/usage-account", "usageAccountShapes"],
  },
  { projection: rate, module: "rate", exported: "rate", shapes: ["ledger/rate", "rateShapes"] },
];

export const userProjectionNames = (streamPrefix = ""): string[] =>
  table.map((row) => `${familyOf(row, streamPrefix)}${row.projection.version}`);

const familyOf = ({ projection, name = projection.name }: Row, streamPrefix: string): string =>
  `voxledger-${streamNames(streamPrefix).toStored(name)}-v`;

/** Bundles the projections of the table for the installation whose streams have this prefix. */
export const userProjections = (streamPrefix = ""): Promise<UserProjection[]> =>
  Promise.all(table.map((row) => toUserProjection(row, streamPrefix)));

const toUserProjection = async (row: Row, streamPrefix: string): Promise<UserProjection> => {
  const family = familyOf(row, streamPrefix);
  return { family, name: `${family}${row.projection.version}`, query: await bundle(row, streamPrefix) };
};

/**
 * Servers from 23.10 on run scripts in Jint, whose oldest version supports ECMAScript 2015 without
 * generators.
 */
const target = "es2015";

const bundle = async (row: Row, streamPrefix: string): Promise<string> => {
  const {
    module,
    exported,
    stream,
    shapes: [shapesModule, shapes],
  } = row;
  const { toStored } = streamNames(streamPrefix);
  const source = stream === undefined ? "fromAll()" : `fromStream(${JSON.stringify(toStored(stream))})`;
  const contents = `
    import { ${shapes} } from "../../src/domain/${shapesModule}.ts";
    import { streamNames } from "../../src/eventstore/stream-prefix.ts";
    import { ${exported} } from "../${module}.ts";
    import { declare } from "./declaration.ts";
    declare(${exported}, ${shapes}, ${source}, streamNames(${JSON.stringify(streamPrefix)}));`;
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    platform: "neutral",
    // The server's time limit covers the compilation.
    minify: true,
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
