import { monthlyQuota } from "../monthly-quota.ts";
import { declare } from "./declaration.ts";
import type { Language } from "./language.ts";

declare const fromAll: Language["fromAll"];

declare(monthlyQuota, fromAll());
