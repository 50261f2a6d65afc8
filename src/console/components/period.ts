import type { VNode } from "preact";
import { html } from "../html.ts";
import { Field } from "./field.ts";

/** A time with its zone for the API, of a `datetime-local` control in UTC. Empty if the control is. */
export const timeOfControl = (value: string): string => (value === "" ? "" : `${value.slice(0, 16)}:00.000Z`);

/** The value of a `datetime-local` control that shows a time in UTC. */
export const controlOfTime = (time: string | number): string => new Date(time).toISOString().slice(0, 16);

/** Fields for a period; both ends are minutes in UTC. */
export const PeriodFields = ({ from, to }: { from: string; to: string }): VNode =>
  html`<${Field} label="From (UTC)" control=${{ type: "datetime-local", name: "from", defaultValue: from }} />
    <${Field} label="To (UTC)" control=${{ type: "datetime-local", name: "to", defaultValue: to }} />`;

/** The fields of a submitted form that are not empty. */
export const fieldsOf = (event: SubmitEvent): Record<string, string> => {
  event.preventDefault();
  const fields = new FormData(event.currentTarget as HTMLFormElement);
  return Object.fromEntries([...fields].map(([name, value]) => [name, String(value).trim()]));
};
