import type { Board } from "./board";
import type { Connection } from "./live";
import { merge } from "./merge";

export type XAxis = "round" | "time_s" | "bytes";

// The user's choices. Devices are identified by id.
export interface Choices {
  axis: XAxis;
  text: string;
  group: string;
  state: string;
  selected: Set<number>;
}

const pauseMs = 250;

// The run, the choices and their rendering. New data is rendered at most four times a second, a choice in the
// next frame.
export class Store {
  board: Board | null = null;
  connection: Connection = "connecting";
  why = "";
  readonly choices: Choices = { axis: "round", text: "", group: "", state: "", selected: new Set() };

  private timer: ReturnType<typeof setTimeout> | null = null;
  private frame = 0;
  private shown = -Infinity;

  constructor(private readonly render: () => void) {}

  take(event: string, value: unknown): void {
    this.board = merge(this.board, event, value);
    this.renderLater();
  }

  connect(state: Connection, why: string): void {
    this.connection = state;
    this.why = why;
    this.renderSoon();
  }

  choose(change: Partial<Choices>): void {
    Object.assign(this.choices, change);
    this.renderSoon();
  }

  // Selects or unselects a device.
  toggle(id: number): void {
    const selected = new Set(this.choices.selected);
    if (!selected.delete(id)) selected.add(id);
    this.choose({ selected });
  }

  renderNow(): void {
    this.shown = performance.now();
    this.render();
  }

  private renderLater(): void {
    if (this.timer !== null) return;
    const wait = Math.max(0, this.shown + pauseMs - performance.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      this.renderSoon();
    }, wait);
  }

  private renderSoon(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.renderNow();
    });
  }
}
