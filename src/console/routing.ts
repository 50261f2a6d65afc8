import { useLayoutEffect, useState } from "preact/hooks";

/** The place in the console, kept in the fragment of the URL: `#/keys/vlk_…?search=x`. */
export interface Route {
  /** The parts are decoded; empty ones are omitted. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const parseRoute = (fragment: string): Route => {
  const [path = "", query = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
};

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a person typed it by hand
  }
};

type Query = Readonly<Record<string, string | number | undefined>>;

/** The link to a place. Members of the query that are undefined or empty are left out. */
export const linkTo = (path: readonly string[], query: Query = {}): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
};

export const navigate = (link: string): void => {
  location.hash = link;
};

/** Changes some members of the current place's query. */
export const changeQuery = ({ path, query }: Route, changes: Query): void =>
  navigate(linkTo(path, { ...Object.fromEntries(query), ...changes }));

/** The current place; renders again when it changes. */
export const useRoute = (): Route => {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // A passive effect would miss a change between the first rendering and the listener.
  useLayoutEffect(() => {
    const update = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
};

/** The view of a screen receives these. */
export interface ScreenProps {
  readonly route: Route;
  /** The values of the `:name` parts of the screen's path. */
  readonly params: Readonly<Record<string, string>>;
}

/** The values of `:name` parts if the path matches the pattern; otherwise undefined. */
export const matchPath = (pattern: string, path: readonly string[]): ScreenProps["params"] | undefined => {
  const parts = pattern.split("/").filter(Boolean);
  if (parts.length !== path.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = path[index] ?? "";
    if (part.startsWith(":")) values[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return values;
};
