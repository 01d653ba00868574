import { nameOf, type Board, type Devices } from "../board";
import { h, setAttribute, setHidden, setText } from "../dom";
import { formatBytes, formatCount, formatNumber, formatSeconds, formatShare } from "../format";
import { tookOf } from "../round_parts";
import { knownState, stateGlyph, stateLabel, states } from "../states";
import type { Store } from "../store";

interface Column {
  id: string;
  title: string;
  about?: string;
  when?(board: Board): boolean;
  sort(devices: Devices, row: number): number | string | null;
  text(devices: Devices, row: number): string;
  words?: boolean;  // left-aligned
}

const order = new Map<string, number>(states.map(([name], i) => [name, i]));
const hasGroups = ({ devices }: Board) => devices.group.some((group) => group !== "");
const inPanels = (name: string) => (board: Board) => board.panels.has(name);

const plain = (id: keyof Devices & string, title: string, format: (value: number | null | undefined) => string, about?: string): Column => ({
  id,
  title,
  ...(about === undefined ? {} : { about }),
  sort: (devices, row) => (devices[id] as (number | null)[])[row] ?? null,
  text: (devices, row) => format((devices[id] as (number | null)[])[row]),
});

const columns: Column[] = [
  { id: "name", title: "Device", words: true, sort: (_d, row) => row, text: nameOf },
  { id: "group", title: "Group", words: true, when: hasGroups, sort: (d, row) => d.group[row] ?? "", text: (d, row) => d.group[row] ?? "" },
  { id: "state", title: "State", words: true, sort: (d, row) => order.get(knownState(d.state[row] ?? "")) ?? 0, text: (d, row) => stateLabel(d.state[row] ?? "") },
  { id: "outcome", title: "Last outcome", words: true, sort: (d, row) => d.outcome[row] ?? "", text: (d, row) => d.outcome[row] || "–" },
  plain("round", "Round", formatCount, "Its last round"),
  plain("applied", "Applied", formatCount),
  plain("missed", "Missed", formatCount),
  plain("samples", "Samples", formatCount, "In its last round"),
  plain("loss", "Loss", formatNumber),
  { id: "took", title: "Took", about: "Pull, compute and push of its last round", sort: tookOf, text: (d, row) => formatSeconds(tookOf(d, row)) },
  plain("wait_s", "Waited", formatSeconds, "In its last round"),
  { ...plain("rate", "Samples/s", formatNumber, "Rate of its stream"), when: inPanels("streams") },
  { ...plain("buffered", "Buffered", formatCount), when: inPanels("streams") },
  { ...plain("dropped", "Dropped", formatCount, "Samples that its buffer dropped"), when: inPanels("streams") },
  { ...plain("kept", "Kept", (value) => formatShare(value, 0), "Share of the network that it trains"), when: inPanels("dropout") },
  { ...plain("met", "Met", formatCount, "Devices that it averaged with"), when: inPanels("gossip") },
  plain("bytes_down", "Down", formatBytes),
  plain("bytes_up", "Up", formatBytes),
];

const pageSize = 20;

// The fleet as a paged table, so that cost does not depend on the number of devices.
export class FleetTable {
  private readonly head = h("tr", {});
  private readonly body = h("tbody", {});
  private readonly back: HTMLButtonElement;
  private readonly on: HTMLButtonElement;
  private readonly where = h("span", { "data-testid": "page", role: "status" });
  private readonly pager: HTMLElement;
  private shown: Column[] = [];
  private rows: number[] = [];
  private devices: Devices | null = null;
  private by = "name";
  private down = false;
  private page = 0;
  readonly element: HTMLElement;

  constructor(private readonly store: Store) {
    const turn = (step: number) => () => {
      this.page += step;
      this.fill();
    };
    this.back = h("button", { type: "button", class: "quiet", "aria-label": "Previous page", click: turn(-1) }, "‹ Previous");
    this.on = h("button", { type: "button", class: "quiet", "aria-label": "Next page", "data-testid": "next-page", click: turn(1) }, "Next ›");
    this.pager = h("nav", { class: "pager", "aria-label": "Pages of the device table" }, this.back, this.where, this.on);
    const table = h("table", { "data-testid": "device-table" }, h("caption", { class: "unseen" }, "Devices"), h("thead", {}, this.head), this.body);
    this.body.addEventListener("click", (event) => {
      const id = (event.target as Element).closest<HTMLElement>("tr")?.dataset.device;
      if (id !== undefined) store.toggle(Number(id));
    });
    this.element = h(
      "div",
      { class: "card table" },
      h("h3", {}, "Devices"),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of devices" }, table),
      this.pager,
    );
  }

  update(board: Board, rows: number[]): void {
    const shown = columns.filter((column) => column.when?.(board) ?? true);
    if (shown.length !== this.shown.length || shown.some((column, i) => column !== this.shown[i])) {
      this.shown = shown;
      this.body.replaceChildren();
      this.head.replaceChildren(...shown.map((column) => this.headOf(column)));
    }
    this.devices = board.devices;
    this.rows = rows;
    this.fill();
  }

  private headOf(column: Column): HTMLElement {
    const button = h(
      "button",
      { type: "button", title: column.about ?? "", "data-testid": `sort-${column.id}`, click: () => this.sortBy(column.id) },
      column.title,
    );
    return h("th", { scope: "col", "data-column": column.id, "aria-sort": "none", ...(column.words ? { class: "words" } : {}) }, button);
  }

  // Sorting by the same column again reverses the order. Text sorts ascending first, numbers descending.
  private sortBy(id: string): void {
    const words = columns.find((column) => column.id === id)?.words === true;
    this.down = this.by === id ? !this.down : !words;
    this.by = id;
    this.page = 0;
    this.fill();
  }

  private sorted(devices: Devices): number[] {
    const column = this.shown.find(({ id }) => id === this.by) ?? (columns[0] as Column);
    const sign = this.down ? -1 : 1;
    const keys = new Map(this.rows.map((row) => [row, column.sort(devices, row)]));
    return [...this.rows].sort((a, b) => {
      const x = keys.get(a) ?? null;
      const y = keys.get(b) ?? null;
      // Unknown values are last in both orders.
      if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }

  private fill(): void {
    const { devices } = this;
    if (devices === null) return;
    for (const head of this.head.children)
      setAttribute(head, "aria-sort", (head as HTMLElement).dataset.column !== this.by ? "none" : this.down ? "descending" : "ascending");
    const pages = Math.max(1, Math.ceil(this.rows.length / pageSize));
    this.page = Math.max(0, Math.min(pages - 1, this.page));
    const rows = this.sorted(devices).slice(this.page * pageSize, (this.page + 1) * pageSize);
    while (this.body.children.length > rows.length) this.body.lastElementChild?.remove();
    while (this.body.children.length < rows.length) this.body.append(this.emptyRow());
    rows.forEach((row, i) => this.fillRow(this.body.children[i] as HTMLElement, devices, row));
    setText(this.where, rows.length === 0 ? "No device matches" : `${this.page * pageSize + 1}–${this.page * pageSize + rows.length} of ${formatCount(this.rows.length)}`);
    this.back.disabled = this.page === 0;
    this.on.disabled = this.page === pages - 1;
    setHidden(this.pager, devices.id.length <= pageSize && rows.length > 0);
  }

  private emptyRow(): HTMLElement {
    const cells = this.shown.map((column) => {
      if (column.id === "name") return h("th", { scope: "row", class: "words" }, h("button", { type: "button", class: "name" }));
      if (column.id === "state")
        return h("td", { class: "words" }, h("span", { class: "tile", "aria-hidden": "true" }), h("span", { "data-testid": "device-state" }));
      return h("td", column.words ? { class: "words" } : {});
    });
    return h("tr", { "data-testid": "device-row" }, ...cells);
  }

  private fillRow(element: HTMLElement, devices: Devices, row: number): void {
    const id = devices.id[row] as number;
    const selected = this.store.choices.selected.has(id);
    setAttribute(element, "data-device", String(id));
    setAttribute(element, "data-selected", String(selected));
    this.shown.forEach((column, i) => {
      const cell = element.children[i] as HTMLElement;
      const text = column.text(devices, row);
      if (column.id === "name") {
        const button = cell.firstElementChild as HTMLElement;
        setText(button, text);
        setAttribute(button, "aria-pressed", String(selected));
      } else if (column.id === "state") {
        const state = knownState(devices.state[row] ?? "");
        setAttribute(cell.firstElementChild as HTMLElement, "data-state", state);
        setText(cell.firstElementChild as HTMLElement, stateGlyph(state));
        setText(cell.lastElementChild as HTMLElement, text);
      } else {
        setText(cell, text);
        if (column.id === "outcome") {
          setAttribute(cell, "data-outcome", devices.outcome[row] ?? "");
          setAttribute(cell, "title", devices.reason[row] ?? "");
        }
      }
    });
  }
}
