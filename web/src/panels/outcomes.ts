import type { Board } from "../board";
import { LineChart } from "../charts/lines";
import { h, setText } from "../dom";
import { formatCount, formatCountTick, formatSeconds, formatShare, formatShareTick } from "../format";
import { always, section, type Panel } from "./panel";

const outcomeNames = ["applied", "late", "lost", "refused", "crashed"] as const;

// Outcomes of the devices' work, and the program's notes.
export function outcomes(): Panel {
  const applied = new LineChart({
    id: "applied",
    title: "Updates applied",
    hint: "of the participants of a round",
    series: [
      { label: "applied", colour: "c3", filled: true },
      { label: "took part", colour: "c5", dashed: true },
    ],
    text: formatCount,
    tick: (value) => (Number.isInteger(value) ? formatCountTick(value) : ""),
    from: "zero",
  });
  const waiting = new LineChart({
    id: "waiting",
    title: "Waiting",
    hint: "of the devices' time in a round",
    series: [{ label: "waiting", colour: "c4", filled: true }],
    text: formatShare,
    tick: formatShareTick,
    from: "zero",
    limit: 1,
  });
  const counts = outcomeNames.map((name) => h("b", { "data-testid": `outcome-${name}` }));
  const summary = h("p", { class: "summary" }, ...outcomeNames.map((name, i) => h("span", {}, `${name} `, counts[i] as HTMLElement)));
  const list = h("ol", { class: "notes", "data-testid": "notes" });
  const notes = h("div", { class: "card" }, h("h3", {}, "Notes"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Notes" }, list));
  let rounds: Board["rounds"] | null = null;
  let said: Board["notes"] | null = null;
  return {
    element: section("outcomes", "Outcomes", "Results of the devices' work", summary, applied.element, waiting.element, notes),
    inUse: always,
    update(board: Board) {
      outcomeNames.forEach((name, i) => setText(counts[i] as HTMLElement, formatCount(board.now[name])));
      if (board.rounds !== rounds) {
        rounds = board.rounds;
        applied.update([
          { x: rounds.round, y: rounds.applied },
          { x: rounds.round, y: rounds.participants },
        ]);
        waiting.update([{ x: rounds.round, y: rounds.waiting_share }]);
      }
      if (board.notes !== said) {
        said = board.notes;
        list.replaceChildren(
          ...(said.length === 0
            ? [h("li", { class: "none" }, "No notes.")]
            : [...said].reverse().map((note) => h("li", {}, h("time", {}, formatSeconds(note.time_s)), h("span", {}, note.text)))),
        );
      }
    },
  };
}
