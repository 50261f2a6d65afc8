import type { VNode } from "preact";
import { Field } from "../../components/field.ts";
import { html } from "../../html.ts";

/** The parts of a JSON schema that the form understands. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
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

/** A form for a JSON schema: one control for each member, and JSON where a member has several shapes. */
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
  const hint = schema.default === undefined ? undefined : `Default: ${JSON.stringify(schema.default)}`;
  const common = { label: path.at(-1) ?? "", error: errors.get(place), hint, key: place };
  const onChange = (read: (input: HTMLInputElement) => unknown) => (event: Event) =>
    set(path, read(event.currentTarget as HTMLInputElement));
  if (schema.type === "boolean") {
    const options = [
      ["", "default"],
      ["true", "yes"],
      ["false", "no"],
    ] as const;
    const read = ({ value: chosen }: HTMLInputElement) => (chosen === "" ? undefined : chosen === "true");
    return html`<${Field} ...${common} as="select" control=${{ disabled: isReadOnly, onChange: onChange(read) }}>
      ${options.map(([option, text]) => html`<option key=${option} value=${option} selected=${option === String(value ?? "")}>${text}</option>`)}
    <//>`;
  }
  if (schema.enum && schema.type === "string") {
    const read = ({ value: chosen }: HTMLInputElement) => (chosen === "" ? undefined : chosen);
    return html`<${Field} ...${common} as="select" control=${{ disabled: isReadOnly, onChange: onChange(read) }}>
      <option value="" selected=${value === undefined}>default</option>
      ${schema.enum.map((option) => html`<option key=${option} value=${option} selected=${option === value}>${option}</option>`)}
    <//>`;
  }
  if (schema.type === "number") {
    const read = ({ value: text }: HTMLInputElement) => (text === "" ? undefined : Number(text));
    const limits = { min: schema.minimum, max: schema.maximum, step: "any" };
    return html`<${Field} ...${common} control=${{ type: "number", ...limits, value: value ?? "", disabled: isReadOnly, onChange: onChange(read) }} />`;
  }
  if (isText(schema)) {
    const read = ({ value: text }: HTMLInputElement) => (text === "" ? undefined : text);
    return html`<${Field} ...${common} control=${{ value: value ?? "", disabled: isReadOnly, onChange: onChange(read) }} />`;
  }
  const text = value === undefined ? "" : JSON.stringify(value);
  return html`<${Field} ...${common} hint=${`JSON. ${hint ?? ""}`} control=${{ value: text, disabled: isReadOnly, onChange: onChange(readJson) }} />`;
};

/** A text, or a text that may be null. */
const isText = ({ type, anyOf }: Schema): boolean =>
  type === "string" ||
  (Array.isArray(type) && type.every((one) => one === "string" || one === "null")) ||
  (anyOf?.every((one) => one.type === "string" || one.type === "null") ?? false);

/** A text that is not JSON is sent as it is: the service says what is wrong with it. */
const readJson = ({ value }: HTMLInputElement): unknown => {
  if (value.trim() === "") return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

export const memberAt = (config: unknown, path: readonly string[]): unknown => {
  let value = config;
  for (const name of path) value = Object(value)[name];
  return value;
};

/** A copy with the member set; undefined removes it, and objects that it leaves empty. */
export const withMember = (config: Config, path: readonly string[], value: unknown): Config => {
  const [name = "", ...rest] = path;
  const inner = rest.length === 0 ? value : withMember(Object(config[name]), rest, value);
  const isEmpty = inner === undefined || (rest.length > 0 && Object.keys(Object(inner)).length === 0);
  const { [name]: _, ...others } = config;
  return isEmpty ? others : { ...others, [name]: inner };
};
