import { nameOf, type Devices } from "../board";
import { swatch } from "../charts/figure";
import { choice, h, setAttribute, setHidden, setText } from "../dom";
import { deviceTimes } from "../figures";
import { formatCount, formatSeconds, formatSecondsTick } from "../format";
import { partsOf } from "../round_parts";
import type { Store } from "../store";

type Which = "slowest" | "first" | "selected";

const mostRows = 40;

const pieces = ["pull", "compute", "push", "wait", "hidden-pull", "hidden-push"] as const;

class Row {
  private readonly name = h("span", { class: "name" });
  private readonly total = h("span", { class: "total" });
  private readonly plan = h("i", { class: "plan" });
  private readonly parts = pieces.map((piece) => h("i", { class: `part ${piece}` }));
  readonly element = h(
    "li",
    { "data-testid": "timeline-row" },
    this.name,
    h("span", { class: "track", "aria-hidden": "true" }, ...this.parts, this.plan),
    this.total,
  );

  show(devices: Devices, row: number, most: number): void {
    const parts = partsOf(devices, row);
    const spans: [number, number][] = [
      [0, parts.begin],
      [parts.begin, parts.end],
      [parts.end, parts.sent],
      [parts.sent, parts.all],
      [parts.begin, parts.pull],
      [parts.push, Math.min(parts.end, parts.sent)],
    ];
    const percent = (seconds: number) => `${((seconds / most) * 100).toFixed(3)}%`;
    spans.forEach(([from, to], i) => {
      const { style } = this.parts[i] as HTMLElement;
      style.left = percent(from);
      style.width = percent(Math.max(0, to - from));
    });
    setHidden(this.plan, parts.planned === null);
    this.plan.style.left = percent(parts.planned ?? 0);
    const name = nameOf(devices, row);
    const outcome = devices.outcome[row] ?? "";
    setText(this.name, name);
    setText(this.total, outcome === "applied" || outcome === "" ? formatSeconds(parts.sent) : outcome);
    setAttribute(this.element, "data-outcome", outcome);
    const words = [
      `${name}: ${outcome}`,
      ...deviceTimes.filter((time) => time !== "hidden_s").map((time) => `${time.slice(0, -"_s".length)} ${formatSeconds(devices[time][row])}`),
      parts.hidden > 0 ? `${formatSeconds(parts.hidden)} of the transfers hidden behind computing` : "",
      parts.planned === null ? "" : `planned ${formatSeconds(parts.planned)}`,
    ].filter((part) => part !== "");
    setAttribute(this.element, "title", words.join("\n"));
    setAttribute(this.element, "aria-label", words.join(", "));
  }
}

// Where the time of the devices' last rounds went, with the planned end.
export class Timeline {
  private readonly list = h("ul", { class: "rows", "data-testid": "timeline" });
  private readonly axis = h("div", { class: "axis", "aria-hidden": "true" });
  private readonly empty = h("p", { class: "line" });
  private readonly rows: Row[] = [];
  private readonly plan: HTMLElement;
  private readonly hidden: HTMLElement;
  private which: Which = "slowest";
  private devices: Devices | null = null;
  readonly element: HTMLElement;

  constructor(private readonly store: Store) {
    const which = choice<Which>(
      "Devices in the timeline",
      [
        ["slowest", "Slowest"],
        ["first", "First"],
        ["selected", "Selected"],
      ],
      this.which,
      (value) => {
        this.which = value;
        this.fill();
      },
    );
    const key = (label: string, colour: string) => h("span", { class: "key" }, swatch({ label, colour }), label);
    this.plan = h("span", { class: "key" }, h("i", { class: "plan-key", "aria-hidden": "true" }), "planned");
    this.hidden = h("span", { class: "key" }, h("i", { class: "swatch hatched", "aria-hidden": "true" }), "hidden transfer");
    this.element = h(
      "div",
      { class: "card timeline" },
      h("div", { class: "caption" }, h("h3", {}, "The last round"), which.element),
      h("div", { class: "legend" }, key("pull", "pull"), key("compute", "compute"), key("push", "push"), key("wait", "wait"), this.hidden, this.plan),
      this.axis,
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Where the time of the last round went" }, this.list, this.empty),
    );
  }

  update(devices: Devices): void {
    this.devices = devices;
    this.fill();
  }

  private chosen(devices: Devices): number[] {
    const rows = devices.id.map((_, row) => row).filter((row) => devices.outcome[row] !== "" || partsOf(devices, row).all > 0);
    const { selected } = this.store.choices;
    if (this.which === "selected") return rows.filter((row) => selected.has(devices.id[row] as number)).slice(0, mostRows);
    if (this.which === "slowest") {
      const ends = new Map(rows.map((row) => [row, partsOf(devices, row).sent]));
      rows.sort((a, b) => (ends.get(b) ?? 0) - (ends.get(a) ?? 0) || a - b);
    }
    return rows.slice(0, mostRows);
  }

  private fill(): void {
    const { devices } = this;
    if (devices === null) return;
    const rows = this.chosen(devices);
    const all = rows.map((row) => partsOf(devices, row));
    const most = Math.max(1e-9, ...all.map((parts) => Math.max(parts.all, parts.planned ?? 0))) * 1.02;
    while (this.rows.length > rows.length) this.rows.pop()?.element.remove();
    while (this.rows.length < rows.length) {
      const row = new Row();
      this.rows.push(row);
      this.list.append(row.element);
    }
    rows.forEach((row, i) => this.rows[i]?.show(devices, row, most));
    setHidden(this.plan, !all.some((parts) => parts.planned !== null));
    setHidden(this.hidden, !all.some((parts) => parts.hidden > 0));
    setHidden(this.axis, rows.length === 0);
    this.fillAxis(most);
    const left = devices.id.length - rows.length;
    setText(
      this.empty,
      rows.length === 0
        ? this.which === "selected" ? "Select devices in the map or in the table." : "No device has finished a round yet."
        : left > 0 && this.which !== "selected" ? `and ${formatCount(left)} more` : "",
    );
  }

  private fillAxis(most: number): void {
    const power = 10 ** Math.floor(Math.log10(most / 4));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => most / size <= 5) ?? power * 10;
    const marks: number[] = [];
    for (let at = 0; at <= most; at += step) marks.push(at);
    while (this.axis.children.length > marks.length) this.axis.lastElementChild?.remove();
    while (this.axis.children.length < marks.length) this.axis.append(h("span", {}));
    marks.forEach((at, i) => {
      const mark = this.axis.children[i] as HTMLElement;
      mark.style.left = `${(at / most) * 100}%`;
      setText(mark, formatSecondsTick(at, most));
    });
  }
}
