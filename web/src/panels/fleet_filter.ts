import { nameOf, type Devices } from "../board";
import { h, setAttribute, setHidden, setText } from "../dom";
import { formatCount } from "../format";
import { knownState, states } from "../states";
import type { Choices, Store } from "../store";

// The rows of devices that match the filters, in the order of the board.
export function filtered(devices: Devices, { text, group, state }: Choices): number[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const rows: number[] = [];
  for (let row = 0; row < devices.id.length; ++row) {
    if (group !== "" && devices.group[row] !== group) continue;
    if (state !== "" && knownState(devices.state[row] ?? "") !== state) continue;
    if (words.length > 0) {
      const line = `${nameOf(devices, row)} ${devices.group[row]} ${devices.state[row]} ${devices.outcome[row]} ${devices.reason[row]}`.toLowerCase();
      if (!words.every((word) => line.includes(word))) continue;
    }
    rows.push(row);
  }
  return rows;
}

// Filters for the map and the table: by text, group and state.
export class FleetFilter {
  private readonly text: HTMLInputElement;
  private readonly group: HTMLSelectElement;
  private readonly groupPart: HTMLElement;
  private readonly clear: HTMLButtonElement;
  private readonly matching = h("span", { class: "matching", "data-testid": "matching", role: "status" });
  private readonly keys = new Map<string, { button: HTMLButtonElement; count: HTMLElement }>();
  private groups = "";
  readonly element: HTMLElement;
  readonly legend: HTMLElement;

  constructor(private readonly store: Store) {
    this.text = h("input", { type: "search", placeholder: "Filter devices", "aria-label": "Filter devices by text", "data-testid": "filter", maxlength: 100, input: () => store.choose({ text: this.text.value }) });
    this.group = h("select", { "aria-label": "Group", "data-testid": "group", change: () => store.choose({ group: this.group.value }) });
    this.groupPart = h("span", { class: "select", hidden: true }, this.group);
    this.clear = h("button", { type: "button", class: "quiet", "data-testid": "clear-selection", click: () => store.choose({ selected: new Set() }) });
    this.element = h("div", { class: "filters" }, this.clear, this.matching, this.text, this.groupPart);
    for (const [name, label, glyph] of states) {
      const count = h("b", { "data-testid": `state-count-${name}` }, "0");
      const tile = h("span", { class: "tile", "data-state": name, "aria-hidden": "true" }, glyph);
      const press = () => store.choose({ state: store.choices.state === name ? "" : name });
      const button = h("button", { type: "button", class: "key", "aria-pressed": "false", click: press }, tile, `${label} `, count);
      this.keys.set(name, { button, count });
    }
    this.legend = h("div", { class: "states", role: "group", "aria-label": "Show only devices that are" }, ...[...this.keys.values()].map(({ button }) => button));
  }

  update(devices: Devices, rows: number[]): void {
    const groups = [...new Set(devices.group)].filter((group) => group !== "").sort();
    const key = JSON.stringify(groups);
    if (key !== this.groups) {
      this.groups = key;
      this.group.replaceChildren(h("option", { value: "" }, "All groups"), ...groups.map((group) => h("option", { value: group }, group)));
      this.group.value = this.store.choices.group;
      this.groupPart.hidden = groups.length < 2;
    }
    const counts = new Map<string, number>();
    for (const state of devices.state) counts.set(knownState(state), (counts.get(knownState(state)) ?? 0) + 1);
    for (const [name, { button, count }] of this.keys) {
      const number = counts.get(name) ?? 0;
      setText(count, formatCount(number));
      setAttribute(button, "aria-pressed", String(this.store.choices.state === name));
      setAttribute(button, "data-none", String(number === 0));
    }
    const all = devices.id.length;
    const more = devices.left_out > 0 ? `, ${formatCount(devices.left_out)} more not shown` : "";
    setText(this.matching, (rows.length === all ? `${formatCount(all)} devices` : `${formatCount(rows.length)} of ${formatCount(all)} devices`) + more);
    const selected = this.store.choices.selected.size;
    setText(this.clear, `Unselect ${selected}`);
    setHidden(this.clear, selected === 0);
  }
}
