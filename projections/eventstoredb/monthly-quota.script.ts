import { monthlyQuota } from "../monthly-quota.ts";
import { declare } from "./declaration.ts";
import type { ProjectionLanguage } from "./language.ts";

declare const fromAll: ProjectionLanguage["fromAll"];

declare(monthlyQuota, fromAll());
