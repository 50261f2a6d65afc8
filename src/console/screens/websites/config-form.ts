import type { VNode } from "preact";
import { Field, valueIn } from "../../components/field.ts";
import { html } from "../../html.ts";

/** The parts of a JSON schema that the form understands. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Config = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly schema: Schema;
  /** The stored part: members that are absent have their defaults. */
  readonly config: Config;
  /** Messages by the path of their member: `voice.rate`. */
  readonly errors: ReadonlyMap<string, string>;
  readonly isReadOnly: boolean;
  readonly onChange: (config: Config) => void;
}

/**
 * A form for a JSON schema: one control for each member, and JSON where a member has several
 * shapes.
 */
export const ConfigForm = ({ schema, config, errors, isReadOnly, onChange }: FormProps): VNode => {
  const set = (path: readonly string[], value: unknown) => onChange(withMember(config, path, value));
  return html`<div class="config">${Object.entries(schema.properties ?? {}).map(([name, member]) => memberOf({ path: [name], schema: member, config, errors, isReadOnly, set }))}</div>`;
};

interface MemberProps extends Omit<FormProps, "onChange"> {
  readonly path: readonly string[];
  readonly set: (path: readonly string[], value: unknown) => void;
}

const memberOf = (props: MemberProps): VNode => {
  const { path, schema, errors } = props;
  const name = path.at(-1) ?? "";
  if (!schema.properties) return control(props);
  const error = errors.get(path.join("."));
  return html`<fieldset key=${path.join(".")}>
    <legend>${name}</legend>
    ${error && html`<p class="error">${error}</p>`}
    ${Object.entries(schema.properties).map(([member, inner]) => memberOf({ ...props, path: [...path, member], schema: inner }))}
  </fieldset>`;
};

const control = ({ path, schema, config, errors, isReadOnly, set }: MemberProps): VNode => {
  const value = memberAt(config, path);
  const place = path.join(".");
  const preset = schema.default === undefined ? [] : [`Default: ${JSON.stringify(schema.default)}`];
  const hint = [...preset, ...(schema.description ? [schema.description] : [])].join(". ") || undefined;
  const common = { label: path.at(-1) ?? "", error: errors.get(place), hint, key: place };
  const attributes = (read: (text: string) => unknown) => ({
    disabled: isReadOnly,
    onChange: (event: Event) => set(path, valueIn(event) === "" ? undefined : read(valueIn(event))),
  });
  const choices = choicesOf(schema);
  if (choices) {
    return html`<${Field} ...${common} as="select" control=${attributes((chosen) => choices.get(chosen))}>
      <option value="" selected=${value === undefined}>default</option>
      ${[...choices].map(([text, choice]) => html`<option key=${text} value=${text} selected=${String(choice) === String(value)}>${text}</option>`)}
    <//>`;
  }
  if (schema.type === "number" || schema.type === "integer") {
    const step = schema.type === "integer" ? 1 : "any";
    const limits = { min: schema.minimum, max: schema.maximum, step };
    return html`<${Field} ...${common} control=${{ type: "number", ...limits, value: value ?? "", ...attributes(Number) }} />`;
  }
  if (isText(schema)) {
    return html`<${Field} ...${common} control=${{ value: value ?? "", ...attributes((text) => text) }} />`;
  }
  const text = value === undefined ? "" : JSON.stringify(value);
  return html`<${Field} ...${common} hint=${`JSON. ${hint ?? ""}`} control=${{ value: text, ...attributes(readJson) }} />`;
};

/** The values that a member may have, by the text of their option; undefined if it may have any. */
const choicesOf = ({ type, enum: values }: Schema): ReadonlyMap<string, unknown> | undefined => {
  if (type === "boolean")
    return new Map([
      ["yes", true],
      ["no", false],
    ]);
  return values && type === "string" ? new Map(values.map((value) => [String(value), value])) : undefined;
};

/** A text, or a text that may be null. */
const isText = ({ type, anyOf }: Schema): boolean =>
  type === "string" ||
  (Array.isArray(type) && type.every((one) => one === "string" || one === "null")) ||
  (anyOf?.every((one) => one.type === "string" || one.type === "null") ?? false);

/** A text that is not JSON is sent unchanged: the service says what is wrong with it. */
const readJson = (text: string): unknown => {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const memberAt = (config: unknown, path: readonly string[]): unknown => {
  let value = config;
  for (const name of path) value = Object(value)[name];
  return value;
};

/**
 * Returns a copy with the member set. A value of undefined removes the member, and objects that are
 * then empty.
 */
const withMember = (config: Config, path: readonly string[], value: unknown): Config => {
  const [name = "", ...rest] = path;
  const inner = rest.length === 0 ? value : withMember(Object(config[name]), rest, value);
  const isEmpty = inner === undefined || (rest.length > 0 && Object.keys(Object(inner)).length === 0);
  const { [name]: _, ...others } = config;
  return isEmpty ? others : { ...others, [name]: inner };
};
