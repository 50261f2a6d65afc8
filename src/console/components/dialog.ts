import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { html } from "../html.ts";
import { Failed } from "./status.ts";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it, returns it afterwards, and closes it with Escape. */
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

export interface ConfirmProps extends DialogProps {
  /** What the button does: `Suspend key`. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Receives the form's fields by name. The dialog shows what it throws. */
  readonly onConfirm: (fields: FormData) => Promise<unknown>;
  /** The dialog stays open after the action, for instance because it then shows a result. Default false. */
  readonly staysOpen?: boolean;
}

/** Asks before something is changed. Its children may be the fields of a form. */
export const Confirm = (props: ConfirmProps): VNode => {
  const { title, action, isDangerous, staysOpen, onConfirm, onClose, children } = props;
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ error: unknown } | undefined>();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    onConfirm(new FormData(event.currentTarget as HTMLFormElement))
      .then(
        () => {
          if (!staysOpen) onClose();
        },
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
