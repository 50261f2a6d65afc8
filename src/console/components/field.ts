import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";
import { html } from "../html.ts";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** Attributes of the control: `name`, `value`, `type`, `onInput`. */
  readonly control?: Readonly<Record<string, unknown>>;
  /** Default: `input`. */
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

/** Returns the text that a person has entered or chosen in the control of an event. */
export const valueIn = (event: Event): string =>
  (event.currentTarget as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement).value;

/** The fields of a submitted form. Prevents the browser from sending them. */
export const formOf = (event: SubmitEvent): FormData => {
  event.preventDefault();
  return new FormData(event.currentTarget as HTMLFormElement);
};

/** The fields of a submitted form as texts without spaces around them. */
export const fieldsOf = (event: SubmitEvent): Record<string, string> =>
  Object.fromEntries([...formOf(event)].map(([name, value]) => [name, String(value).trim()]));

interface SearchProps {
  readonly placeholder: string;
  readonly onSearch: (text: string) => void;
  /** Further filters. */
  readonly children?: ComponentChildren;
}

/** A form to search a list. */
export const Search = ({ placeholder, onSearch, children }: SearchProps): VNode => {
  const submit = (event: SubmitEvent) => onSearch(String(formOf(event).get("search")));
  return html`<form class="filters" role="search" onSubmit=${submit}>
    <${Field} label="Search" control=${{ name: "search", type: "search", placeholder }} />
    <button type="submit">Search</button>
    ${children}
  </form>`;
};
