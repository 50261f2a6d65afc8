import { z } from "zod";
import type { BundleLoader } from "../../bundles/bundles.ts";
import type { Operation } from "../../kernel/operation.ts";
import { bundledFile, bundledPageOperation, pageFileOperation, pathToRoot } from "../docs/page.ts";

/**
 * `base`: the relative path from the page to the root of the service; `assets`: the path of its
 * files.
 */
const consolePage = (base: string, assets: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>Voxledger console</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${base}${assets}/console.css">
    <script type="module" src="${base}${assets}/console.js"></script>
  </head>
  <body>
    <div id="console" data-base="${base}"><noscript>The console needs JavaScript.</noscript></div>
  </body>
</html>
`;

/**
 * `/console`: the page for operators and auditors. It has no data: its script asks the admin API
 * with the person's token.
 */
export const consoleOperations = ({ bundles }: Pick<BundleLoader, "bundles">): Operation[] => [
  openConsole(bundles),
  readConsoleAsset(bundles),
];

const openConsole = (bundles: BundleLoader["bundles"]): Operation =>
  bundledPageOperation({
    path: "/console",
    id: "openConsole",
    summary: "Open the console for operators and auditors",
    description: "The page. It asks for a token of ADMIN_TOKEN or AUDITOR_TOKEN.",
    write: async (ctx) => {
      const { consoleVersion } = await bundles();
      return consolePage(pathToRoot(ctx), `console/assets/${consoleVersion}`);
    },
  });

const readConsoleAsset = (bundles: BundleLoader["bundles"]): Operation =>
  pageFileOperation({
    path: "/console/assets/{version}/{file}",
    id: "readConsoleAsset",
    summary: "Get a file of the console",
    parameters: {
      version: z
        .string()
        .meta({ description: "The version of the console.", examples: ["2b1f0c9d8e7a6b5c"] }),
      file: z.string().meta({ description: "The name of the file.", examples: ["console.js"] }),
    },
    content: { "text/javascript": { schema: z.string() }, "text/css": { schema: z.string() } },
    errors: [503],
    find: async (wanted, file) => {
      const { consoleVersion, console } = await bundles();
      return bundledFile(file, wanted === consoleVersion ? console.get(file) : undefined);
    },
  });
