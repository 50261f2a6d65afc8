import { catalog } from "../catalog.ts";
import { declare } from "./declaration.ts";
import type { ProjectionLanguage } from "./language.ts";

declare const fromStream: ProjectionLanguage["fromStream"];

declare(catalog, fromStream("catalog"));
