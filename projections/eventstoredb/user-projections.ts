import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { catalog } from "../catalog.ts";
import { monthlyQuota } from "../monthly-quota.ts";
import type { Projection } from "../projection.ts";
import { rate } from "../rate.ts";

/** A projection that an EventStoreDB server runs by itself, for whoever looks at the server. */
export interface UserProjection {
  /** `voxledger-{projection}-v{version}`: another version begins anew, under a name of its own. */
  readonly name: string;
  /** The same for every version. */
  readonly family: string;
  /** A whole script in the server's projection language. */
  readonly query: string;
}

type Named = Pick<Projection<unknown>, "name" | "version">;

const shown: readonly Named[] = [catalog, monthlyQuota, rate];

/** Makes the scripts of the very folds that the service's own views are made with. */
export const userProjections = (): Promise<UserProjection[]> => Promise.all(shown.map(userProjection));

const userProjection = async ({ name, version }: Named): Promise<UserProjection> => {
  const family = `voxledger-${name}-v`;
  return { family, name: `${family}${version}`, query: await bundled(name) };
};

/** Servers from 23.10 on run scripts in Jint, of which the oldest knows ECMAScript 2015 without generators. */
const target = "es2015";

const bundled = async (name: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`${name}.script.ts`, import.meta.url))],
    bundle: true,
    format: "iife",
    platform: "neutral",
    minifySyntax: true,
    target,
    charset: "utf8",
    legalComments: "none",
    write: false,
    banner: {
      js: `// The view "${name}" of Voxledger, made from projections/${name}.ts: not to be changed here.`,
    },
    tsconfigRaw: {},
  });
  return outputFiles[0]?.text ?? "";
};
