import type uPlot from "uplot";
import { formatBytes, formatBytesTick, formatCount, formatCountTick, formatSeconds, formatSecondsTick } from "../format";
import type { XAxis } from "../store";
import { colour } from "../theme";

export interface XScale {
  name: string;
  text(value: number): string;
  tick(value: number, most: number): string;
  steps?: number[];
}

const seconds = [1, 2, 5, 10, 15, 30];
const timeSteps = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5,
  ...seconds,
  ...seconds.map((s) => s * 60),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 240, 480, 960, 2400].map((hours) => hours * 3600),
];
const wholeSteps = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat();

export const roundScale: XScale = {
  name: "round",
  text: (value) => `round ${formatCount(value)}`,
  tick: (value) => (Number.isInteger(value) ? formatCountTick(value) : ""),
  steps: wholeSteps,
};

export const xScales: Record<XAxis, XScale> = {
  round: roundScale,
  time_s: { name: "time", text: formatSeconds, tick: formatSecondsTick, steps: timeSteps },
  bytes: { name: "bytes", text: formatBytes, tick: formatBytesTick },
};

const font = '11px Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const common = (): uPlot.Axis => ({
  stroke: () => colour("muted"),
  font,
  ticks: { show: false },
  grid: { stroke: () => colour("grid"), width: 1 },
  border: { show: false },
});

export function xAxis(scale: () => XScale): uPlot.Axis {
  return {
    ...common(),
    size: 24,
    gap: 5,
    space: 70,
    grid: { show: false },
    border: { show: true, stroke: () => colour("line"), width: 1 },
    incrs: (u) => scale().steps?.filter((step) => step * 60 > (u.scales.x?.max ?? 0) - (u.scales.x?.min ?? 0)) ?? defaultSteps,
    values: (u, splits) => splits.map((value) => scale().tick(value, u.scales.x?.max ?? value)),
  };
}

export function yAxis(tick: (value: number) => string): uPlot.Axis {
  return { ...common(), size: 54, gap: 6, space: 34, values: (_u, splits) => splits.map(tick) };
}

const defaultSteps = Array.from({ length: 24 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** (i - 6))).flat();

// Range of the y axis: from 0, or around the values; at most `limit`.
export function yRange(from: "zero" | "around", limit: number, also: () => number | null): uPlot.Range.Function {
  return (_u, min, max) => {
    const extra = also();
    let low = min ?? 0;
    let high = max ?? 1;
    if (extra !== null) {
      low = Math.min(low, extra);
      high = Math.max(high, extra);
    }
    const margin = (high - (from === "zero" ? 0 : low)) * 0.08 || Math.abs(high) * 0.1 || 1;
    low = from === "zero" ? 0 : Math.max(0, low - margin);
    return [low, Math.max(low + 1e-9, Math.min(limit, high + margin))];
  };
}

export function xRange(_u: uPlot, min: number | null, max: number | null): [number, number] {
  const low = min ?? 0;
  const high = max ?? 1;
  return high > low ? [low, high] : [low, low + 1];
}
