import { rate } from "../rate.ts";
import { declare } from "./declaration.ts";
import type { ProjectionLanguage } from "./language.ts";

declare const fromAll: ProjectionLanguage["fromAll"];

declare(rate, fromAll());
