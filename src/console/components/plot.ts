import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { formatCount, formatShort } from "../format.ts";
import { html } from "../html.ts";
import { type Cell, Table } from "./table.ts";

interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Default: `line`. */
  readonly kind?: "line" | "step" | "bars" | "area";
  /** A CSS variable or colour. Default: the next colour of the palette. */
  readonly color?: string;
  readonly isDashed?: boolean;
}

export interface PlotProps {
  readonly title: string;
  /** Ascending: Unix seconds if `isTime`, otherwise numbers. */
  readonly x: readonly number[];
  readonly series: readonly Series[];
  /** Default: true. */
  readonly isTime?: boolean;
  readonly xTitle?: string;
  /** Writes x in the table. */
  readonly formatX?: (x: number) => string;
  readonly formatY?: (y: number) => string;
  /** Adds the series up. */
  readonly isStacked?: boolean;
  /** The position or time of the figures: `as of position 1,042`. */
  readonly asOf?: string;
  readonly height?: number;
  /** Vertical lines with labels, in ascending order. */
  readonly markers?: readonly { readonly x: number; readonly label: string }[];
  /** Called with a range that was selected with the pointer. */
  readonly onSelect?: (from: number, to: number) => void;
}

const palette = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"];

/**
 * A plot with the same data as a table, which assistive technology reads and which can be copied.
 */
export const Plot = (props: PlotProps): VNode => {
  const {
    title,
    x,
    series,
    asOf,
    isTime = true,
    xTitle = isTime ? "Time (UTC)" : "",
    formatY = formatCount,
  } = props;
  const formatX = props.formatX ?? (isTime ? timeText : formatCount);
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => (holder.current ? draw(holder.current, props) : undefined), [x, series, title]);
  const columns = [
    { id: "x", title: xTitle, value: (row: number) => formatX(x[row] ?? 0) },
    ...series.map(({ label, values }, index) => ({
      id: String(index),
      title: label,
      isNumber: true,
      value: (row: number): Cell => values[row],
      view: (row: number) => (values[row] == null ? "–" : formatY(values[row])),
    })),
  ];
  return html`<figure class="plot" aria-label=${title}>
    <figcaption>
      <strong>${title}</strong>
      ${asOf && html`<span class="as-of">${asOf}</span>`}
    </figcaption>
    <ul class="legend">
      ${series.map(
        ({ label, color }, index) => html`<li key=${label}>
          <span class="swatch" aria-hidden="true" style=${{ background: colorOf(color, index) }}></span>${label}
        </li>`,
      )}
    </ul>
    <div ref=${holder} class="canvas" aria-hidden="true"></div>
    <details>
      <summary>Show “${title}” as a table</summary>
      <${Table} caption=${title} columns=${columns} rows=${[...x.keys()]} idOf=${(row: number) => row} />
    </details>
  </figure>`;
};

const timeText = (seconds: number): string =>
  new Date(seconds * 1_000).toISOString().slice(0, 16).replace("T", " ");

const colorOf = (color: string | undefined, index: number): string =>
  color ?? `var(${palette[index % palette.length]})`;

/** The value of a CSS variable: a canvas does not resolve variables. */
const resolve = (color: string): string => {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : color;
};

/**
 * Draws the plot, and draws it again when the colour scheme changes, until the returned function is
 * called.
 */
const draw = (holder: HTMLElement, props: PlotProps): (() => void) => {
  const create = () => new uPlot(optionsOf(holder, props), dataOf(props), holder);
  let plot = create();
  const resized = new ResizeObserver(() => {
    const width = holder.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
  });
  resized.observe(holder);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => {
    plot.destroy();
    plot = create();
  };
  scheme.addEventListener("change", redraw);
  return () => {
    scheme.removeEventListener("change", redraw);
    resized.disconnect();
    plot.destroy();
  };
};

/**
 * uPlot draws later series over earlier ones: stacked sums are drawn from the highest to the
 * lowest.
 */
const dataOf = ({ x, series, isStacked }: PlotProps): uPlot.AlignedData => {
  const values = series.map(({ values }) => [...values]);
  if (isStacked) {
    for (let index = 1; index < values.length; index++) {
      const below = values[index - 1] ?? [];
      values[index] = (values[index] ?? []).map((value, at) => (value ?? 0) + (below[at] ?? 0));
    }
    values.reverse();
  }
  return [[...x], ...values];
};

const optionsOf = (
  holder: HTMLElement,
  { x, series, isStacked, isTime = true, height = 220, onSelect, formatX, markers = [] }: PlotProps,
): uPlot.Options => {
  const axis = {
    stroke: resolve("var(--muted)"),
    grid: { stroke: resolve("var(--line)"), width: 1 },
    ticks: { stroke: resolve("var(--line)"), width: 1 },
  };
  const hasBars = series.some(({ kind }) => kind === "bars");
  const drawn = series.map((one, index) => drawnSeries(one, index, isStacked === true));
  if (isStacked) drawn.reverse();
  return {
    width: Math.max(200, holder.clientWidth),
    height,
    legend: { show: false },
    cursor: { drag: { x: onSelect !== undefined, y: false, setScale: false } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    scales: {
      x: {
        time: isTime,
        ...(x.length < 2 && { range: () => rangeAround(x[0], isTime) }),
        // Without this range, the first and the last bar would be cut in half.
        ...(hasBars && !isTime && { range: (_, min, max) => [min - 0.5, max + 0.5] }),
      },
      y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.05 : 1] },
    },
    series: [{}, ...drawn],
    axes: [
      { ...axis, ...(!isTime && formatX && { values: (_, splits) => splits.map(formatX) }) },
      { ...axis, size: 56, values: (_, splits) => splits.map(formatShort) },
    ],
    hooks: {
      draw: [(plot) => drawMarkers(plot, markers)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width > 2) onSelect?.(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
        },
      ],
    },
  };
};

/** Returns half a day on both sides of a single value, or of now if there is none. */
const rangeAround = (value: number | undefined, isTime: boolean): [number, number] => {
  const [centre, half] = isTime ? [value ?? Date.now() / 1_000, 43_200] : [value ?? 0, 1];
  return [centre - half, centre + half];
};

const drawnSeries = (
  { label, kind = "line", color, isDashed }: Series,
  index: number,
  isStacked: boolean,
): uPlot.Series => {
  const stroke = resolve(colorOf(color, index));
  const isFilled = isStacked || kind === "bars" || kind === "area";
  return {
    label,
    stroke,
    width: 2,
    ...(isFilled && { fill: isStacked ? stroke : `${stroke}55` }),
    ...(isDashed && { dash: [6, 4] }),
    ...(kind === "bars" && {
      paths: uPlot.paths.bars?.({ size: [0.7, 60] }) as uPlot.Series.PathBuilder,
      width: 0,
    }),
    ...(kind === "step" && { paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder }),
    points: { show: kind !== "bars" && kind !== "step" && undefined },
  } as uPlot.Series;
};

/** Labels that would overlap the one before are left out. */
const drawMarkers = (plot: uPlot, markers: NonNullable<PlotProps["markers"]>): void => {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * scale}px system-ui, sans-serif`;
  ctx.strokeStyle = resolve("var(--control-line)");
  ctx.fillStyle = resolve("var(--text)");
  let free = bbox.left;
  for (const { x, label } of markers) {
    const left = Math.round(plot.valToPos(x, "x", true));
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    if (left < free) continue;
    ctx.fillText(label, left + 3 * scale, bbox.top + 12 * scale);
    free = left + ctx.measureText(label).width + 8 * scale;
  }
  ctx.restore();
};
