import { h, setAttribute, setHidden, setText } from "../dom";
import { onTheme } from "../theme";

export interface Key {
  label: string;
  colour: string;  // name in the style sheet
  dashed?: boolean;
}

export interface Table {
  heads: string[];
  rows: string[][];
}

export interface FigureOptions {
  id: string; // for tests: chart-<id>
  title: string;
  hint?: string;
  keys: Key[];
  height?: number;
}

const mostRows = 200;

export function swatch(key: Key): HTMLElement {
  const element = h("i", { class: key.dashed ? "swatch dashed" : "swatch", "aria-hidden": "true" });
  element.style.setProperty("--swatch", `var(--${key.colour})`);
  return element;
}

// The frame of all charts: title, legend with the latest values (or those under the pointer), a description
// for screen readers, and a table of the values instead of the picture. Painted only while visible; the
// height is fixed.
export class Figure {
  readonly element: HTMLElement;
  readonly plot: HTMLElement;
  // Size of the plot, as last observed: reading it from the DOM would force a layout per chart.
  width = 0;
  height = 0;
  private readonly values: HTMLElement[];
  private readonly at: HTMLElement;
  private readonly alternative: HTMLElement;
  private readonly toggle: HTMLButtonElement;
  private latest: { at: string; values: string[] } = { at: "", values: [] };
  private table: () => Table = () => ({ heads: [], rows: [] });
  private paint: () => void = () => {};
  private visible = false;
  private stale = false;
  private asTable = false;
  private pointing = false;

  constructor(private readonly options: FigureOptions) {
    this.values = options.keys.map(() => h("b", {}));
    this.at = h("span", { class: "at" });
    const keys = options.keys.map((key, i) =>
      h(
        "span",
        { class: "key" },
        swatch(key),
        `${key.label} `,
        this.values[i] as HTMLElement,
      ),
    );
    this.toggle = h(
      "button",
      { type: "button", class: "quiet", "aria-pressed": "false", "aria-label": `Table of: ${options.title}`, click: () => this.switchOver() },
      "Table",
    );
    this.plot = h("div", { class: "plot", role: "img", "aria-label": options.title });
    this.alternative = h("div", { class: "alternative", hidden: true, tabindex: 0, role: "region", "aria-label": options.title });
    const stage = h("div", { class: "stage" }, this.plot, this.alternative);
    stage.style.height = `${options.height ?? 180}px`;
    this.element = h(
      "figure",
      { class: "card chart", "data-testid": `chart-${options.id}` },
      h(
        "figcaption",
        {},
        h("h3", {}, options.title, options.hint ? h("small", {}, options.hint) : null),
        this.toggle,
        h("div", { class: "legend" }, ...keys, this.at),
      ),
      stage,
    );
    new IntersectionObserver(
      (entries) => {
        this.visible = entries.some((entry) => entry.isIntersecting);
        this.repaintIfDue();
      },
      { rootMargin: "300px" },
    ).observe(this.element);
    new ResizeObserver((entries) => {
      const box = entries[entries.length - 1]?.contentRect;
      this.width = Math.floor(box?.width ?? 0);
      this.height = Math.floor(box?.height ?? 0);
      this.repaint();
    }).observe(this.plot);
    onTheme(() => this.repaint());
    addEventListener("beforeprint", () => {
      this.visible = true;
      this.repaintIfDue();
    });
  }

  // Number of values (for tests), latest values, a function for the table, and a function that paints.
  show(points: number, at: string, values: string[], table: () => Table, paint: () => void): void {
    this.latest = { at, values };
    this.table = table;
    this.paint = paint;
    setAttribute(this.element, "data-points", String(points));
    const words = this.options.keys.map((key, i) => `${key.label} ${values[i] ?? ""}`).join(", ");
    setAttribute(this.plot, "aria-label", points > 0 ? `${this.options.title}. ${at}: ${words}` : `${this.options.title}. No data yet`);
    setAttribute(this.element, "data-empty", String(points === 0));
    if (!this.pointing) this.legend(at, values);
    if (this.asTable) this.fillTable();
    this.repaint();
  }

  // Shows the values under the pointer; by default the latest.
  point(at: string | null, values: string[] = this.latest.values): void {
    this.pointing = at !== null;
    if (at === null) this.legend(this.latest.at, this.latest.values);
    else this.legend(at, values);
  }

  private legend(at: string, values: string[]): void {
    setText(this.at, at);
    this.values.forEach((value, i) => setText(value, values[i] ?? ""));
  }

  private repaint(): void {
    this.stale = true;
    this.repaintIfDue();
  }

  private repaintIfDue(): void {
    if (!this.stale || !this.visible || this.asTable || this.width === 0) return;
    this.stale = false;
    this.paint();
  }

  private switchOver(): void {
    this.asTable = !this.asTable;
    this.toggle.setAttribute("aria-pressed", String(this.asTable));
    setHidden(this.plot, this.asTable);
    setHidden(this.alternative, !this.asTable);
    if (this.asTable) this.fillTable();
    else this.repaint();
  }

  private fillTable(): void {
    const { heads, rows } = this.table();
    const shown = rows.slice(0, mostRows);
    const body = shown.map((row) => h("tr", {}, ...row.map((cell, i) => h(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, cell))));
    this.alternative.replaceChildren(
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...body),
      ),
      rows.length > shown.length ? h("p", {}, `and ${rows.length - shown.length} more`) : h("p", {}),
    );
  }
}
