import type { Board } from "../board";
import { h } from "../dom";

// A part of the page. Shown and updated only while its mechanism is in use.
export interface Panel {
  element: HTMLElement;
  inUse(board: Board): boolean;
  update(board: Board): void;
}

export const always = (): boolean => true;

export function section(id: string, title: string, about: string, extra: HTMLElement | null, ...cards: HTMLElement[]): HTMLElement {
  return h(
    "section",
    { "aria-labelledby": `title-${id}`, "data-testid": `panel-${id}` },
    h("div", { class: "heading" }, h("h2", { id: `title-${id}` }, title), h("p", {}, about), extra),
    h("div", { class: "cards" }, ...cards),
  );
}
