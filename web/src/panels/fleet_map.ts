import { nameOf, type Devices } from "../board";
import { h, setAttribute, setText } from "../dom";
import { formatCount, formatNumber, formatSeconds } from "../format";
import { tookOf } from "../round_parts";
import { knownState, stateGlyph, stateLabel } from "../states";
import type { Store } from "../store";

// A one-line summary of a device.
export function lineOf(devices: Devices, row: number): string {
  const parts = [nameOf(devices, row)];
  if (devices.group[row]) parts.push(devices.group[row] as string);
  parts.push(stateLabel(devices.state[row] ?? "").toLowerCase());
  if (devices.outcome[row])
    parts.push(`round ${formatCount(devices.round[row])} ${devices.outcome[row]}${devices.reason[row] ? ` (${devices.reason[row]})` : ""}`);
  parts.push(`${formatCount(devices.applied[row])} applied, ${formatCount(devices.missed[row])} missed`);
  if (devices.loss[row] !== null) parts.push(`loss ${formatNumber(devices.loss[row])}`);
  const busy = tookOf(devices, row);
  if (busy > 0) parts.push(`took ${formatSeconds(busy)}, waited ${formatSeconds(devices.wait_s[row])}`);
  return parts.join(" · ");
}

const mostNamed = 48;

// The fleet as a map with one tile per device. A single tab stop; arrow keys move between tiles.
export class FleetMap {
  private readonly cells: HTMLElement[] = [];
  private readonly grid: HTMLElement;
  private readonly line = h("p", { class: "line", "data-testid": "device-line" });
  private devices: Devices | null = null;
  private current = 0;
  private hovered = -1;
  readonly element: HTMLElement;

  constructor(
    private readonly store: Store,
    legend: HTMLElement,
  ) {
    this.grid = h("div", { class: "map", role: "listbox", "aria-multiselectable": "true", "aria-label": "Devices by what they do", "data-testid": "fleet-map" });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    const rowOf = (event: Event) => this.cells.indexOf((event.target as Element).closest<HTMLElement>(".cell") as HTMLElement);
    this.grid.addEventListener("click", (event) => this.choose(rowOf(event)));
    this.grid.addEventListener("pointerover", (event) => this.hover(rowOf(event)));
    this.grid.addEventListener("pointerleave", () => this.hover(-1));
    this.grid.addEventListener("focusin", (event) => this.hover(rowOf(event)));
    this.grid.addEventListener("focusout", () => this.hover(-1));
    this.element = h("div", { class: "card fleet" }, h("h3", {}, "Device states"), legend, this.grid, this.line);
  }

  update(devices: Devices, rows: number[]): void {
    this.devices = devices;
    const count = devices.id.length;
    while (this.cells.length > count) this.cells.pop()?.remove();
    if (this.cells.length < count) {
      const more = document.createDocumentFragment();
      while (this.cells.length < count) {
        const cell = h("div", { class: "cell", role: "option", tabindex: -1 }, h("span", { class: "tile" }), h("span", { class: "label" }));
        this.cells.push(cell);
        more.append(cell);
      }
      this.grid.append(more);
    }
    setAttribute(this.grid, "data-size", count <= mostNamed ? "large" : count <= 300 ? "medium" : "small");
    this.current = Math.min(this.current, Math.max(0, count - 1));
    const shown = new Set(rows);
    for (let row = 0; row < count; ++row) {
      const cell = this.cells[row] as HTMLElement;
      const state = knownState(devices.state[row] ?? "");
      const name = nameOf(devices, row);
      if (cell.dataset.state !== state) {
        const tile = cell.firstElementChild as HTMLElement;
        cell.dataset.state = tile.dataset.state = state;
        tile.textContent = stateGlyph(state);
      }
      if (count <= mostNamed) setText(cell.lastElementChild as HTMLElement, name);
      setAttribute(cell, "aria-label", `${name}, ${stateLabel(state)}`);
      setAttribute(cell, "aria-selected", String(this.store.choices.selected.has(devices.id[row] as number)));
      setAttribute(cell, "data-dim", String(!shown.has(row)));
      setAttribute(cell, "tabindex", row === this.current ? "0" : "-1");
    }
    this.describe();
  }

  private describe(): void {
    const row = this.hovered >= 0 ? this.hovered : this.selectedRow();
    setText(this.line, row >= 0 && this.devices !== null ? lineOf(this.devices, row) : "Point at a tile to see its device; click to select it.");
  }

  private selectedRow(): number {
    const [id] = [...this.store.choices.selected].slice(-1);
    return id === undefined ? -1 : (this.devices?.id.indexOf(id) ?? -1);
  }

  private hover(row: number): void {
    this.hovered = row;
    this.describe();
  }

  private choose(row: number): void {
    const id = this.devices?.id[row];
    if (id !== undefined) {
      this.go(row);
      this.store.toggle(id);
    }
  }

  private go(row: number): void {
    this.cells[this.current]?.setAttribute("tabindex", "-1");
    this.current = Math.max(0, Math.min(this.cells.length - 1, row));
    const cell = this.cells[this.current];
    cell?.setAttribute("tabindex", "0");
    cell?.focus();
  }

  private key(event: KeyboardEvent): void {
    const columns = getComputedStyle(this.grid).gridTemplateColumns.split(" ").length;
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -columns,
      ArrowDown: columns,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step !== undefined) this.go(this.current + step);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.current);
    else return;
    event.preventDefault();
  }
}
