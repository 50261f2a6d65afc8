import { catalog } from "../catalog.ts";
import { declare } from "./declaration.ts";
import type { Language } from "./language.ts";

declare const fromStream: Language["fromStream"];

declare(catalog, fromStream("catalog"));
