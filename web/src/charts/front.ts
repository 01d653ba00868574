import uPlot from "uplot";
import { formatCountTick, formatNumber, formatShare, formatShareTick } from "../format";
import { colour } from "../theme";
import { xAxis, yAxis, yRange } from "./axes";
import { Figure } from "./figure";

type Front = { cost: number; convergence: number }[];

// Cost of sub-networks against convergence, with marks at the shares that devices keep now.
export class FrontChart {
  readonly figure = new Figure({
    id: "front",
    title: "Pareto front",
    hint: "loss after a short training, by cost",
    keys: [
      { label: "choices", colour: "c1" },
      { label: "kept now", colour: "c2" },
    ],
    height: 200,
  });
  private plot: uPlot | null = null;
  private front: Front | null = null;
  private kept: number[] = [];

  get element(): HTMLElement {
    return this.figure.element;
  }

  update(front: Front, kept: (number | null)[]): void {
    const changed = front !== this.front;
    this.front = front;
    this.kept = kept.filter((share): share is number => share !== null);
    const range = this.kept.length > 0 ? `${formatShare(Math.min(...this.kept), 0)} to ${formatShare(Math.max(...this.kept), 0)}` : "–";
    this.figure.show(
      front.length,
      "",
      [String(front.length), range],
      () => ({
        heads: ["cost", "loss"],
        rows: front.map((point) => [formatShare(point.cost), formatNumber(point.convergence)]),
      }),
      () => this.paint(changed),
    );
  }

  private paint(changed: boolean): void {
    const { width, height } = this.figure;
    const front = this.front ?? [];
    const data: uPlot.AlignedData = [front.map((point) => point.cost), front.map((point) => point.convergence)];
    this.plot ??= new uPlot(this.describe(width, height), data, this.figure.plot);
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    if (changed) this.plot.setData(data);
    else this.plot.redraw(false, true);
  }

  private describe(width: number, height: number): uPlot.Options {
    const scale = { name: "cost", text: formatShareTick, tick: formatShareTick };
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    return {
      width,
      height,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false, x: false, y: false }, points: { size: 9 } },
      scales: {
        x: { time: false, range: (_u, _min, max) => [0, Math.max(1, max ?? 1) * 1.02] },
        y: { range: yRange("around", Infinity, () => null) },
      },
      axes: [xAxis(() => scale), yAxis(formatCountTick)],
      series: [
        {},
        {
          stroke: () => `${colour("c1")}66`,
          width: 1,
          ...(stepped ? { paths: stepped } : {}),
          points: { show: true, size: 7, width: 1.5, stroke: () => colour("card"), fill: () => colour("c1") },
        },
      ],
      hooks: {
        drawAxes: [(u) => this.drawKept(u)],
        setCursor: [(u) => this.point(u)],
      },
    };
  }

  private point(u: uPlot): void {
    const point = this.front?.[u.cursor.idx ?? -1];
    if (point === undefined || (u.cursor.left ?? -1) < 0) return this.figure.point(null);
    this.figure.point(`cost ${formatShare(point.cost)}, loss ${formatNumber(point.convergence)}`);
  }

  private drawKept(u: uPlot): void {
    const { ctx, bbox } = u;
    const ratio = uPlot.pxRatio;
    const floor = bbox.top + bbox.height;
    const size = 5 * ratio;
    ctx.save();
    for (const share of this.kept) {
      const x = u.valToPos(share, "x", true);
      ctx.strokeStyle = `${colour("c2")}30`;
      ctx.lineWidth = ratio;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, floor);
      ctx.stroke();
      ctx.fillStyle = colour("c2");
      ctx.beginPath();
      ctx.moveTo(x, floor - 2 * size);
      ctx.lineTo(x - size, floor);
      ctx.lineTo(x + size, floor);
      ctx.fill();
    }
    ctx.restore();
  }
}
