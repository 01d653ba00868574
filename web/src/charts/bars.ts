import uPlot from "uplot";
import { nameOf, type Devices } from "../board";
import { formatCount, formatCountTick } from "../format";
import type { Store } from "../store";
import { colour } from "../theme";
import { xAxis, yAxis, yRange } from "./axes";
import { Figure } from "./figure";

export interface BarOptions {
  id: string;
  title: string;
  hint?: string;
  colour: string;
  text(value: number | null | undefined): string;
  tick?(value: number): string;
  limit?: number;
  height?: number;
}

// Bars with one value per device; selected devices are highlighted, and a click selects.
export class DeviceBars {
  readonly figure: Figure;
  private plot: uPlot | null = null;
  private devices: Devices | null = null;
  private values: (number | null)[] = [];
  private data: uPlot.AlignedData = [[]];
  private drawn: uPlot.AlignedData | null = null;

  constructor(
    private readonly options: BarOptions,
    private readonly store: Store,
  ) {
    this.figure = new Figure({
      ...options,
      keys: [
        { label: "mean", colour: options.colour },
        { label: "least", colour: "none" },
        { label: "most", colour: "none" },
      ],
    });
  }

  get element(): HTMLElement {
    return this.figure.element;
  }

  update(devices: Devices, values: (number | null)[]): void {
    this.devices = devices;
    this.values = values;
    const { selected } = this.store.choices;
    const chosen = values.map((value, row) => (selected.has(devices.id[row] as number) ? value : null));
    this.data = [values.map((_, row) => row), values, chosen];
    const known = values.filter((value): value is number => value !== null);
    const mean = known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
    this.figure.show(
      known.length,
      `${formatCount(known.length)} devices`,
      [mean, known.length > 0 ? Math.min(...known) : null, known.length > 0 ? Math.max(...known) : null].map((value) => this.options.text(value)),
      () => ({
        heads: ["device", this.options.title],
        rows: values.map((value, row) => [nameOf(devices, row), this.options.text(value)]),
      }),
      () => this.paint(),
    );
  }

  private paint(): void {
    const { width, height } = this.figure;
    this.plot ??= new uPlot(this.describe(width, height), this.data, this.figure.plot);
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    if (this.drawn !== this.data) this.plot.setData(this.data);
    else this.plot.redraw(false, true);
    this.drawn = this.data;
  }

  private describe(width: number, height: number): uPlot.Options {
    const bars = uPlot.paths.bars?.({ size: [0.72, 26] });
    const series = (name: string): uPlot.Series => ({
      stroke: () => colour(name),
      fill: () => colour(name),
      width: 0,
      ...(bars ? { paths: bars } : {}),
      points: { show: false },
    });
    const scale = {
      name: "device",
      text: String,
      tick: (row: number) => (Number.isInteger(row) ? String(this.devices?.id[row] ?? "") : ""),
      steps: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    };
    return {
      width,
      height,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
      scales: {
        x: { time: false, range: (_u, _min, max) => [-0.6, (max ?? 0) + 0.6] },
        y: { range: yRange("zero", this.options.limit ?? Infinity, () => null) },
      },
      axes: [xAxis(() => scale), yAxis(this.options.tick ?? formatCountTick)],
      series: [{}, series(this.options.colour), series("selected")],
      hooks: {
        setCursor: [(u) => this.point(u)],
        ready: [(u) => u.over.addEventListener("click", () => this.click(u))],
      },
    };
  }

  private point(u: uPlot): void {
    const row = u.cursor.idx;
    if (row === null || row === undefined || (u.cursor.left ?? -1) < 0 || this.devices === null) return this.figure.point(null);
    this.figure.point(`${nameOf(this.devices, row)}: ${this.options.text(this.values[row])}`);
  }

  private click(u: uPlot): void {
    const id = this.devices?.id[u.cursor.idx ?? -1];
    if (id !== undefined) this.store.toggle(id);
  }
}
