import { rate } from "../rate.ts";
import { declare } from "./declaration.ts";
import type { Language } from "./language.ts";

declare const fromAll: Language["fromAll"];

declare(rate, fromAll());
