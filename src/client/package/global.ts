/**
 * The library for pages without modules, in one script. It defines the global `Voxledger` and the
 * element `<voxledger-listen>`. A tag with an API key starts what the website's configuration
 * enables:
 *
 *     <script src="https://tts.example.com/voxledger.js" data-api-key="vlk_…"></script>
 */

import { startPage, startTag } from "../page/start-page.ts";
import { Voxledger, VoxledgerError } from "../voxledger.ts";
import { defineListenElement } from "./listen-element.ts";

const script = globalThis.document?.currentScript as HTMLScriptElement | null | undefined;

defineListenElement();
Object.assign(globalThis, { Voxledger: Object.assign(Voxledger, { VoxledgerError, startPage }) });
if (script?.dataset.apiKey !== undefined) startTag(script);
