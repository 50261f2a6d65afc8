import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AdminSession } from "../http/kernel/request-state.ts";
import { ApiError, createApi } from "./api.ts";
import { Field, fieldsOf } from "./components/field.ts";
import { messageOf } from "./components/status.ts";
import { html } from "./html.ts";
import { storedToken } from "./session.ts";

interface SignInProps {
  /** The root of the service. */
  readonly base: string;
  /** The reason why the person was signed out. */
  readonly message: string;
  readonly onSignIn: (token: string, session: AdminSession) => void;
}

/** The form to sign in with a token of ADMIN_TOKEN or AUDITOR_TOKEN. */
export const SignIn = ({ base, message, onSignIn }: SignInProps): VNode => {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const enter = async (token: string): Promise<void> => {
    setBusy(true);
    setFailure("");
    try {
      const api = createApi({ base, token, onUnauthorized: () => {} });
      onSignIn(token, await api.get<AdminSession>("admin/session"));
    } catch (error) {
      storedToken.remove();
      setBusy(false);
      setFailure(reasonOf(error));
    }
  };
  useEffect(() => {
    const token = storedToken.read();
    if (token) void enter(token);
  }, []);
  const submit = (event: SubmitEvent) => {
    const { token = "", stay } = fieldsOf(event);
    if (stay) storedToken.keep(token);
    void enter(token);
  };
  return html`<main class="sign-in">
    <h1>Voxledger console</h1>
    ${message && html`<p class="notice" role="alert">${message}</p>`}
    <form onSubmit=${submit}>
      <${Field}
        label="Token"
        hint="A token of ADMIN_TOKEN (operator) or AUDITOR_TOKEN (auditor, read-only)."
        error=${failure || undefined}
        control=${{ name: "token", type: "password", required: true, autocomplete: "off", spellcheck: false }}
      />
      <${Field}
        label="Stay signed in for this tab"
        hint="Otherwise a reload signs you out."
        control=${{ name: "stay", type: "checkbox" }}
      />
      <div class="actions">
        <button type="submit" class="primary" disabled=${isBusy}>${isBusy ? "Signing in…" : "Sign in"}</button>
      </div>
    </form>
  </main>`;
};

const reasonOf = (error: unknown): string => {
  if (error instanceof ApiError && error.status === 401) return "The service does not know this token.";
  if (error instanceof ApiError && error.status === 404)
    return "The service has neither ADMIN_TOKEN nor AUDITOR_TOKEN.";
  // `fetch` throws this error if the token has a character that a header cannot have.
  return error instanceof TypeError && /header|ISO-8859/i.test(error.message)
    ? "The service does not know this token."
    : messageOf(error);
};
