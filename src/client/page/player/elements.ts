const svgNamespace = "http://www.w3.org/2000/svg";

/** Paths in a square of 24 by 24. */
const icons = {
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  previous: "M6 5h2.5v14H6zM19 5v14l-9-7z",
  next: "M15.5 5H18v14h-2.5zM5 5v14l9-7z",
  close: "M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12 19 17.6 17.6 19 12 13.4 6.4 19 5 17.6 10.6 12 5 6.4z",
  toArticle: "M12 5l7 7-1.4 1.4-4.6-4.6V19h-2V8.8l-4.6 4.6L5 12z",
  link: "M10.6 13.4a1 1 0 0 1 0-1.4l3.5-3.5a3 3 0 0 1 4.3 4.2l-2.2 2.2-1.4-1.4 2.2-2.2a1 1 0 0 0-1.5-1.4L12 13.4a1 1 0 0 1-1.4 0zm2.8-2.8a1 1 0 0 1 0 1.4l-3.5 3.5a3 3 0 0 1-4.3-4.2l2.2-2.2 1.4 1.4-2.2 2.2a1 1 0 0 0 1.5 1.4l3.5-3.5a1 1 0 0 1 1.4 0z",
  download: "M11 4h2v8.2l2.8-2.8 1.4 1.4L12 16l-5.2-5.2 1.4-1.4 2.8 2.8zM5 18h14v2H5z",
  brand: "M4 10v4h2v-4zm3.5-4v12h2V6zM11 3v18h2V3zm3.5 5v8h2V8zM18 10v4h2v-4z",
} as const;

type IconName = keyof typeof icons;

/**
 * Elements are created without markup in strings, so that pages with Trusted Types allow them too.
 */
export const icon = (name: IconName): SVGSVGElement => {
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(svgNamespace, "path"));
  setIcon(svg, name);
  return svg;
};

export const setIcon = (svg: SVGSVGElement, name: IconName): void =>
  svg.firstElementChild?.setAttribute("d", icons[name]);

/** An element with these properties and children. */
export const element = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

export const iconButton = (name: IconName, label: string, onclick: () => void): HTMLButtonElement =>
  element("button", { type: "button", ariaLabel: label, title: label, onclick }, icon(name));

/** `1:05`, or `1:02:05` from an hour on. */
export const formatTime = (seconds: number): string => {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
};
