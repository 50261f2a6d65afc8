import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";
import { html } from "../html.ts";

export interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** Attributes of the control: `name`, `value`, `type`, `onInput`. */
  readonly control?: Readonly<Record<string, unknown>>;
  /** Default `input`. */
  readonly as?: "input" | "textarea" | "select";
  /** The options of a `select`. */
  readonly children?: ComponentChildren;
}

/** A control with its label, hint and error. */
export const Field = ({ label, hint, error, control = {}, as = "input", children }: FieldProps): VNode => {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return html`<div class=${`field ${control.type === "checkbox" ? "check" : ""}`}>
    <label for=${id}>${label}</label>
    <${as} id=${id} ...${control} aria-describedby=${described} aria-invalid=${error ? "true" : undefined}>
      ${children}
    <//>
    ${hint && html`<small id=${`${id}-hint`}>${hint}</small>`}
    ${error && html`<small id=${`${id}-error`} class="error">${error}</small>`}
  </div>`;
};
