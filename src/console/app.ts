import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AdminSession } from "../http/kernel/request-state.ts";
import { createApi } from "./api.ts";
import { Empty, messageOf } from "./components/status.ts";
import { html } from "./html.ts";
import { matchPath, useRoute } from "./routing.ts";
import { screens } from "./screens.ts";
import { type Notice, type Session, SessionContext, storedToken } from "./session.ts";
import { SignIn } from "./sign-in.ts";

interface SignedIn {
  readonly token: string;
  readonly session: AdminSession;
}

/** The console: the form to sign in, or a screen with the navigation. */
export const App = ({ base }: { base: string }): VNode => {
  const [signedIn, setSignedIn] = useState<SignedIn | undefined>();
  const [message, setMessage] = useState("");
  const [notice, setNotice] = useState<Notice | undefined>();
  const session = useMemo((): Session | undefined => {
    if (!signedIn) return undefined;
    const signOut = (reason = "") => {
      storedToken.remove();
      setNotice(undefined);
      setMessage(reason);
      setSignedIn(undefined);
    };
    const onUnauthorized = () => signOut("The service no longer accepts this token. Sign in again.");
    const api = createApi({ base, token: signedIn.token, onUnauthorized });
    return { ...signedIn.session, api, signOut, notify: setNotice };
  }, [signedIn, base]);
  const signIn = (token: string, session: AdminSession) => {
    setMessage("");
    setSignedIn({ token, session });
  };
  if (!session) return html`<${SignIn} base=${base} message=${message} onSignIn=${signIn} />`;
  return html`<${SessionContext.Provider} value=${session}>
    <${Shell} session=${session} notice=${notice} />
  <//>`;
};

const Shell = ({ session, notice }: { session: Session; notice: Notice | undefined }): VNode => {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const found = findScreen(route.path);
  const title = found?.screen.title ?? "Not found";
  const place = route.path.join("/");
  const before = useRef(place);
  useEffect(() => {
    document.title = `${title} · Voxledger console`;
    if (before.current !== place) main.current?.focus();
    before.current = place;
  }, [title, place]);
  return html`
    <a class="skip" href="#main" onClick=${focusMain(main)}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="#/">Voxledger</a>
      <${Navigation} current=${route.path[0] ?? ""} />
      <div class="person">
        <span>${session.name ?? session.role}${session.name && html` <small>${session.role}</small>`}</span>
        <button type="button" class="quiet" onClick=${() => session.signOut()}>Sign out</button>
      </div>
    </header>
    <main id="main" tabindex="-1" ref=${main}>
      <${NoticeBar} session=${session} notice=${notice} />
      ${
        found
          ? html`<${found.screen.view} key=${place} route=${route} params=${found.params} />`
          : html`<h1>Not found</h1><${Empty}>The console has no such screen.<//>`
      }
    </main>
  `;
};

/**
 * Focuses the main content without following the link, because the console would read the link's
 * fragment as a place.
 */
const focusMain = (main: { readonly current: HTMLElement | null }) => (event: Event) => {
  event.preventDefault();
  main.current?.focus();
};

const findScreen = (path: readonly string[]) => {
  for (const screen of screens) {
    const params = matchPath(screen.path, path);
    if (params) return { screen, params };
  }
  return undefined;
};

const Navigation = ({ current }: { current: string }): VNode => {
  const nav = useRef<HTMLElement>(null);
  // `scrollIntoView` is not used, because in Chromium the Tab key would then continue after the
  // link.
  useEffect(() => {
    const link = nav.current?.querySelector("[aria-current]");
    if (!nav.current || !link) return;
    const [outer, inner] = [nav.current.getBoundingClientRect(), link.getBoundingClientRect()];
    nav.current.scrollLeft += Math.max(0, inner.right - outer.right) + Math.min(0, inner.left - outer.left);
  }, [current]);
  return html`<nav class="screens" aria-label="Screens" ref=${nav}>
    <ul>
      ${screens
        .filter(({ path }) => !path.includes("/"))
        .map(
          ({ path, title }) => html`<li key=${path}>
            <a href=${`#/${path}`} aria-current=${path === current ? "page" : undefined}>${title}</a>
          </li>`,
        )}
    </ul>
  </nav>`;
};

const NoticeBar = ({ session, notice }: { session: Session; notice: Notice | undefined }): VNode => {
  const undo = () => {
    notice?.undo?.().then(
      () => session.notify({ text: "Undone." }),
      (error: unknown) => session.notify({ text: messageOf(error) }),
    );
  };
  return html`<div class="notices" role="status">
    ${
      notice &&
      html`<p class="notice">
        ${notice.text}
        ${notice.undo && html`<button type="button" class="quiet" onClick=${undo}>Undo</button>`}
      </p>`
    }
  </div>`;
};
