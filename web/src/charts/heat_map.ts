import { nameOf, type Board, type Devices } from "../board";
import { formatCount } from "../format";
import { colour } from "../theme";
import { Figure } from "./figure";

const labels = 54;
const bottom = 24;

// Samples of each class (rows) on each device (columns); darker is more.
export class HeatMap {
  readonly figure = new Figure({
    id: "classes",
    title: "Samples per class",
    hint: "columns: devices, rows: classes",
    keys: [
      { label: "none", colour: "heat0" },
      { label: "most", colour: "heat1" },
    ],
    height: 260,
  });
  private readonly canvas = document.createElement("canvas");
  private classes: NonNullable<Board["classes"]> | null = null;
  private devices: Devices | null = null;
  private most = 0;

  constructor() {
    this.figure.plot.append(this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.figure.point(null));
  }

  get element(): HTMLElement {
    return this.figure.element;
  }

  update(classes: NonNullable<Board["classes"]>, devices: Devices): void {
    this.classes = classes;
    this.devices = devices;
    this.most = classes.counts.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
    this.figure.show(
      classes.counts.length,
      `${formatCount(classes.counts.length)} devices, ${classes.names.length} classes`,
      ["", formatCount(this.most)],
      () => ({
        heads: ["device", ...classes.names],
        rows: classes.counts.map((row, i) => [nameOf(devices, i), ...row.map(formatCount)]),
      }),
      () => this.paint(),
    );
  }

  // Layout of the cells, in CSS pixels.
  private cells(): { width: number; height: number; wide: number; high: number } {
    const width = this.figure.width - labels - 12;
    const height = this.figure.height - bottom;
    return {
      width,
      height,
      wide: width / Math.max(1, this.classes?.counts.length ?? 1),
      high: height / Math.max(1, this.classes?.names.length ?? 1),
    };
  }

  private paint(): void {
    const ctx = this.canvas.getContext("2d");
    if (ctx === null || this.classes === null) return;
    const { height, wide, high } = this.cells();
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(this.figure.width * ratio);
    this.canvas.height = Math.round(this.figure.height * ratio);
    ctx.scale(ratio, ratio);
    const gapX = wide > 6 ? 1 : 0;
    const gapY = high > 6 ? 1 : 0;
    const { names, counts } = this.classes;
    ctx.fillStyle = colour("heat0");
    ctx.fillRect(labels, 0, wide * counts.length - gapX, height - gapY);
    ctx.fillStyle = colour("heat1");
    counts.forEach((row, i) =>
      row.forEach((count, j) => {
        if (count === 0) return;
        // Square root, so that small counts differ visibly from none.
        ctx.globalAlpha = Math.sqrt(count / this.most);
        ctx.fillRect(labels + i * wide, j * high, wide - gapX + (gapX ? 0 : 0.5), high - gapY + (gapY ? 0 : 0.5));
      }),
    );
    ctx.globalAlpha = 1;
    if (gapX > 0) {
      ctx.fillStyle = colour("card");
      for (let i = 1; i < counts.length; ++i) ctx.fillRect(labels + i * wide - gapX, 0, gapX, height);
    }
    ctx.fillStyle = colour("muted");
    ctx.font = "11px Inter, system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    const every = Math.ceil(14 / high);
    names.forEach((name, j) => {
      if (j % every === 0) ctx.fillText(name.slice(0, 8), labels - 6, (j + 0.5) * high);
    });
    ctx.textAlign = "center";
    const everyDevice = niceStep(36 / wide);
    for (let i = 0; i < counts.length; i += everyDevice)
      ctx.fillText(String(this.devices?.id[i] ?? i), labels + (i + 0.5) * wide, height + 13);
  }

  private point(event: PointerEvent): void {
    if (this.classes === null || this.devices === null) return;
    const { wide, high } = this.cells();
    const i = Math.floor((event.offsetX - labels) / wide);
    const j = Math.floor(event.offsetY / high);
    const count = this.classes.counts[i]?.[j];
    if (count === undefined) return this.figure.point(null);
    this.figure.point(`${nameOf(this.devices, i)}, class ${this.classes.names[j]}: ${formatCount(count)}`);
  }
}

function niceStep(least: number): number {
  for (let size = 1; ; size *= 10) for (const digit of [1, 2, 5]) if (digit * size >= least) return digit * size;
}
