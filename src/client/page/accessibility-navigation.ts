import { accessibleName } from "./accessible-name.ts";
import type { Feature } from "./feature.ts";
import { languageOf } from "./text/language.ts";

/** Speaks the name, role and state of every element that receives the focus by the keyboard. */
export const speakFocusedElements: Feature = ({ speaker, signal }) => {
  let spoken = "";
  const onFocus = ({ target }: FocusEvent): void => {
    const element = target as Element;
    if (!element.matches(":focus-visible") || element.localName === "voxledger-player") return;
    spoken = describe(element);
    if (spoken !== "") void speaker.announce(spoken, languageOf(element));
  };
  document.addEventListener("focusin", onFocus, { signal });
  document.addEventListener("focusout", () => speaker.retract(spoken), { signal });
};

const describe = (element: Element): string =>
  [accessibleName(element), roleOf(element), ...statesOf(element)].filter((word) => word !== "").join(", ");

/** Roles in order of precedence. */
const roles: readonly (readonly [selector: string, role: string])[] = [
  ["[role=link], a[href]", "link"],
  ["[role=checkbox], input[type=checkbox]", "checkbox"],
  ["[role=radio], input[type=radio]", "radio button"],
  ["[role=switch]", "switch"],
  ["[role=tab]", "tab"],
  ["[role=menuitem]", "menu item"],
  ["[role=slider], input[type=range]", "slider"],
  ["[role=combobox], select", "combo box"],
  [
    "[role=button], button, summary, input[type=submit], input[type=button], input[type=reset], input[type=image]",
    "button",
  ],
  ["input[type=password]", "password field"],
  ["[role=textbox], [role=searchbox], input, textarea, [contenteditable]", "text field"],
];

const roleOf = (element: Element): string => roles.find(([selector]) => element.matches(selector))?.[1] ?? "";

const statesOf = (element: Element): string[] => {
  const { checked } = element as HTMLInputElement;
  const isChoice = element.matches("input[type=checkbox], input[type=radio]");
  const is = (attribute: string): boolean | undefined => {
    const value = element.getAttribute(attribute);
    return value === null ? undefined : value === "true";
  };
  const state = (value: boolean | undefined, yes: string, no: string): string =>
    value === undefined ? "" : value ? yes : no;
  return [
    state(isChoice ? checked : is("aria-checked"), "checked", "not checked"),
    state(is("aria-expanded"), "expanded", "collapsed"),
    state(is("aria-selected"), "selected", ""),
    state((element as HTMLInputElement).required || undefined, "required", ""),
    state(is("aria-invalid"), "invalid", ""),
  ];
};
