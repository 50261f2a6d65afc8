import htm from "htm";
import { h, type VNode } from "preact";

/** Views as tagged templates. Every interpolated value is text or a view, never markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
