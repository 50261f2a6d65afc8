import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { html } from "../html.ts";
import { useMayChange } from "../session.ts";
import { CopyButton } from "./copy-button.ts";
import { formOf } from "./field.ts";
import { Failed } from "./status.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/**
 * A modal dialog. The browser keeps the focus in it, returns it afterwards, and closes it with
 * Escape.
 */
export const Dialog = ({ title, onClose, children }: DialogProps): VNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return html`<dialog ref=${dialog} aria-labelledby=${heading} onClose=${onClose}>
    <h2 id=${heading}>${title}</h2>
    ${children}
  </dialog>`;
};

interface ConfirmProps extends DialogProps {
  /** The text of the button: `Suspend key`. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Receives the form's fields by name. The dialog shows the errors that it throws. */
  readonly onConfirm: (fields: FormData) => Promise<unknown>;
  /** The dialog stays open after the action, for instance to show a result. Default: false. */
  readonly staysOpen?: boolean;
}

/** Asks before something is changed. Its children may be the fields of a form. */
export const Confirm = (props: ConfirmProps): VNode => {
  const { title, action, isDangerous, staysOpen, onConfirm, onClose, children } = props;
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ error: unknown }>();
  const submit = (event: SubmitEvent) => {
    const fields = formOf(event);
    setBusy(true);
    setFailure(undefined);
    onConfirm(fields)
      .then(
        () => staysOpen || onClose(),
        (error: unknown) => setFailure({ error }),
      )
      .finally(() => setBusy(false));
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      ${children}
      ${failure && html`<${Failed} error=${failure.error} />`}
      <div class="actions">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class=${isDangerous ? "danger" : "primary"} disabled=${isBusy}>${action}</button>
      </div>
    </form>
  <//>`;
};

export type WithClose<Props> = Props & Pick<DialogProps, "onClose">;

export interface Action<Props> {
  /** The text of the button: `Suspend…`. */
  readonly title: string;
  readonly dialog: ComponentType<WithClose<Props>>;
  readonly isDangerous?: boolean;
}

interface ActionButtonsProps<Props> {
  readonly actions: readonly Action<Props>[];
  /** The props of every dialog. */
  readonly props: Props;
  /** The subject of the actions, for assistive technology. */
  readonly subject?: string;
  /** Further buttons. */
  readonly children?: ComponentChildren;
}

/** A button for each action, which opens its dialog; nothing for persons who may only read. */
export const ActionButtons = <Props>(options: ActionButtonsProps<Props>): VNode | null => {
  const { actions, props, subject, children } = options;
  const [open, setOpen] = useState<Action<Props>>();
  if (!useMayChange()) return null;
  return html`<div class="row">
    ${children}
    ${actions.map((action) => {
      const tone = action.isDangerous ? "danger" : "";
      return html`<button type="button" class=${`quiet ${tone}`} onClick=${() => setOpen(action)}>
        ${action.title}${subject && html`<span class="hidden"> ${subject}</span>`}
      </button>`;
    })}
    ${open && html`<${open.dialog} ...${props} onClose=${() => setOpen(undefined)} />`}
  </div>`;
};

/**
 * A secret that the service shows only once. It is not in the page any more when the dialog is
 * closed.
 */
export const ShownOnce = ({ title, secret, onClose }: DialogProps & { secret: string }): VNode =>
  html`<${Dialog} title=${title} onClose=${onClose}>
    <p>It is shown only now. Store it where only your server can read it.</p>
    <code class="secret">${secret}</code>
    <div class="actions">
      <${CopyButton} text=${() => secret} label="Copy secret" />
      <button type="button" class="primary" onClick=${onClose}>Done</button>
    </div>
  <//>`;
