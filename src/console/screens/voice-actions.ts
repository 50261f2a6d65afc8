import type { ComponentChildren, VNode } from "preact";
import type { Voice } from "../../domain/synthesis/speech.ts";
import { type Action, ActionButtons, Confirm, type WithClose } from "../components/dialog.ts";
import { Field } from "../components/field.ts";
import { html } from "../html.ts";
import { useChange } from "../session.ts";

const pathOf = (name: string): string => `admin/voices/${encodeURIComponent(name)}`;

/** All members of a voice but its name, which never changes. */
const VoiceFields = ({ voice }: { voice: Voice | undefined }): VNode =>
  html`
    <${Field} label="Language" control=${{ name: "lang", required: true, defaultValue: voice?.lang ?? "", placeholder: "en-GB" }} />
    <${Field} label="Country of the flag" control=${{ name: "flag", required: true, pattern: "[a-z]{2}", defaultValue: voice?.flag ?? "", placeholder: "gb" }} />
    <${Field} label="Gender" as="select" control=${{ name: "gender" }}>
      <option value="f" selected=${voice?.gender === "f"}>f</option>
      <option value="m" selected=${voice?.gender === "m"}>m</option>
    <//>
    <${Field} label="Ids of system voices, the preferred one first" control=${{ name: "voiceIDs", required: true, pattern: "[0-9, ]+", defaultValue: voice?.voiceIDs.join(", ") ?? "" }} />
  `;

const membersIn = (fields: FormData) => {
  const { flag, gender, lang, voiceIDs } = Object.fromEntries(fields);
  return { flag, gender, lang, voiceIDs: (String(voiceIDs).match(/[^\s,]+/g) ?? []).map(Number) };
};

interface AddVoiceProps {
  /** The initial values: for an alias, those of the other voice. */
  readonly voice?: Voice;
  /** Called after each change. */
  readonly onChange: () => void;
}

/** Adds a voice to the catalog. Entries are deprecated, never removed. */
export const AddVoice = ({ voice, onChange, onClose }: WithClose<AddVoiceProps>): VNode => {
  const { notify, send } = useChange(onChange);
  const add = async (fields: FormData) => {
    const name = String(fields.get("name")).trim();
    await send("POST", "admin/voices", { name, ...membersIn(fields) });
    const undo = () => send("DELETE", pathOf(name));
    notify({ text: `Added the voice ${name}. Undo deprecates it.`, undo });
  };
  const title = voice ? `Add an alias of ${voice.name}` : "Add a voice";
  return html`<${Confirm} title=${title} action="Add voice" onConfirm=${add} onClose=${onClose}>
    <p>The voice joins the catalog of all websites. It can later be deprecated, and not removed.</p>
    <${Field} label="Name" control=${{ name: "name", required: true, maxlength: 100 }} />
    <${VoiceFields} voice=${voice} />
  <//>`;
};

interface VoiceActionsProps extends Required<AddVoiceProps> {
  /** Further buttons. */
  readonly children?: ComponentChildren;
}

type ActionProps = WithClose<Required<AddVoiceProps>>;

/** The actions of an operator on a voice of the catalog. */
export const VoiceActions = ({ children, ...props }: VoiceActionsProps): VNode => {
  const { name, deprecated: isDeprecated = false } = props.voice;
  const actions: Action<Required<AddVoiceProps>>[] = [
    { title: "Alias…", dialog: AddVoice },
    { title: "Change…", dialog: ChangeVoice },
    { title: isDeprecated ? "Restore…" : "Deprecate…", dialog: SetDeprecated, isDangerous: !isDeprecated },
  ];
  return html`<${ActionButtons} actions=${actions} props=${props} subject=${name}>${children}<//>`;
};

const ChangeVoice = ({ voice, onChange, onClose }: ActionProps): VNode => {
  const { name, flag, gender, lang, voiceIDs } = voice;
  const { notify, send } = useChange(onChange);
  const patch = (members: object) => send("PATCH", pathOf(name), members);
  const change = async (fields: FormData) => {
    await patch(membersIn(fields));
    notify({ text: `Changed the voice ${name}.`, undo: () => patch({ flag, gender, lang, voiceIDs }) });
  };
  return html`<${Confirm} title=${`Change ${name}`} action="Change voice" onConfirm=${change} onClose=${onClose}>
    <p>The voice changes for all websites: the next requests are spoken by its first available system voice.</p>
    <${VoiceFields} voice=${voice} />
  <//>`;
};

const SetDeprecated = ({ voice, onChange, onClose }: ActionProps): VNode => {
  const { name, deprecated: isDeprecated = false } = voice;
  const { notify, send } = useChange(onChange);
  const put = (deprecated: boolean) => send("PATCH", pathOf(name), { deprecated });
  const change = async () => {
    await put(!isDeprecated);
    notify({ text: `${isDeprecated ? "Restored" : "Deprecated"} ${name}.`, undo: () => put(isDeprecated) });
  };
  const verb = isDeprecated ? "Restore" : "Deprecate";
  return html`<${Confirm} title=${`${verb} this voice?`} action=${verb} isDangerous=${!isDeprecated} onConfirm=${change} onClose=${onClose}>
    <p>${
      isDeprecated
        ? `${name} is no longer marked as deprecated in lists.`
        : `${name} is marked as deprecated in lists. Requests may still use it.`
    }</p>
  <//>`;
};
