import uPlot from "uplot";
import { colour } from "../theme";
import { roundScale, xAxis, xRange, yAxis, yRange, type XScale } from "./axes";
import { Figure, type Key } from "./figure";

export interface LineOptions {
  id: string;
  title: string;
  hint?: string;
  series: (Key & { filled?: boolean; dots?: boolean })[];
  text(value: number | null | undefined): string;
  tick(value: number): string;
  from?: "zero" | "around";
  limit?: number;
  height?: number;
}

export interface Line {
  x: number[];
  y: (number | null)[];
}

// Points with increasing x, as charts require; points that go back after a resume are dropped.
function ascending({ x, y }: Line): Line {
  let last = -Infinity;
  if (x.every((value) => value >= last && ((last = value), true))) return { x, y };
  last = -Infinity;
  const keep = x.map((value) => value > last && ((last = value), true));
  return { x: x.filter((_, i) => keep[i]), y: y.filter((_, i) => keep[i]) };
}

const lastKnown = ({ x, y }: Line): [number, number] | null => {
  for (let i = y.length - 1; i >= 0; --i) {
    const value = y[i];
    if (value !== null && value !== undefined) return [x[i] as number, value];
  }
  return null;
};

// Lines over rounds, time or bytes, with an optional target level.
export class LineChart {
  readonly figure: Figure;
  private plot: uPlot | null = null;
  private data: uPlot.AlignedData = [[]];
  private drawn: uPlot.AlignedData | null = null;
  private scale: XScale = roundScale;
  private target: number | null = null;

  constructor(private readonly options: LineOptions) {
    this.figure = new Figure({ ...options, keys: options.series });
  }

  get element(): HTMLElement {
    return this.figure.element;
  }

  // One line per series.
  update(given: Line[], scale: XScale = roundScale, target: number | null = null): void {
    this.scale = scale;
    this.target = target;
    const lines = given.map(ascending);
    const sameX = lines.every((line) => line.x === lines[0]?.x);
    this.data = sameX
      ? [lines[0]?.x ?? [], ...lines.map((line) => line.y)]
      : uPlot.join(lines.map((line) => [line.x, line.y] as uPlot.AlignedData));
    const lasts = lines.map(lastKnown);
    const at = Math.max(...lasts.map((last) => last?.[0] ?? -Infinity));
    this.figure.show(
      lines.reduce((sum, line) => sum + line.y.filter((value) => value !== null).length, 0),
      Number.isFinite(at) ? scale.text(at) : "",
      lasts.map((last) => this.options.text(last?.[1] ?? null)),
      () => this.table(),
      () => this.paint(),
    );
  }

  private table() {
    const [x, ...ys] = this.data;
    const rows = Array.from(x as number[], (value, i) => [
      this.scale.text(value),
      ...ys.map((y) => this.options.text(y[i] as number | null)),
    ]);
    return { heads: [this.scale.name, ...this.options.series.map((series) => series.label)], rows: rows.reverse() };
  }

  private paint(): void {
    const { width, height } = this.figure;
    this.plot ??= new uPlot(this.describe(width, height), this.data, this.figure.plot);
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    // Thinner lines, since many points would merge into a band.
    const thin = (this.data[0]?.length ?? 0) > 300;
    this.options.series.forEach((series, i) => {
      const drawn = this.plot?.series[i + 1];
      if (drawn !== undefined) drawn.width = thin ? 1.2 : series.dashed ? 1.5 : 2;
    });
    if (this.drawn !== this.data) this.plot.setData(this.data);
    else this.plot.redraw(false, true);
    this.drawn = this.data;
  }

  private describe(width: number, height: number): uPlot.Options {
    return {
      width,
      height,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false, x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: xRange },
        y: { range: yRange(this.options.from ?? "around", this.options.limit ?? Infinity, () => this.target) },
      },
      axes: [xAxis(() => this.scale), yAxis(this.options.tick)],
      series: [
        {},
        ...this.options.series.map((series): uPlot.Series => ({
          stroke: () => colour(series.colour),
          width: series.dashed ? 1.5 : 2,
          ...(series.dashed ? { dash: [5, 4] } : {}),
          ...(series.filled ? { fill: () => `${colour(series.colour)}1f` } : {}),
          spanGaps: true,
          // Points are shown if there are few: a line needs two.
          points: { show: (u: uPlot) => (u.data[0]?.length ?? 0) <= 30, size: 5, fill: () => colour(series.colour) },
        })),
      ],
      hooks: { draw: [(u) => this.drawTarget(u)], setCursor: [(u) => this.point(u)] },
    };
  }

  private point(u: uPlot): void {
    const i = u.cursor.idx;
    if (i === null || i === undefined || (u.cursor.left ?? -1) < 0) return this.figure.point(null);
    const [x, ...ys] = u.data;
    this.figure.point(
      this.scale.text(x[i] as number),
      ys.map((y) => this.options.text(y[i] as number | null)),
    );
  }

  private drawTarget(u: uPlot): void {
    if (this.target === null) return;
    const { ctx, bbox } = u;
    const y = Math.round(u.valToPos(this.target, "y", true)) + 0.5;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("target");
    ctx.lineWidth = ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = `${11 * ratio}px Inter, system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.fillText(`target ${this.options.text(this.target)}`, bbox.left + 6 * ratio, y - 3 * ratio);
    ctx.restore();
  }
}
