import {
  fieldsOf,
  mostPoints,
  optional,
  readBoard,
  readDevices,
  readEvaluations,
  readNotes,
  readNow,
  readRounds,
  type Board,
} from "./board";
import { evaluationColumns, roundColumns } from "./figures";

// The first `keep` points, and `more` after them: the program thins, and what was the newest need not stay. The oldest go where
// there are more than `most`.
export function append<C extends Record<string, unknown[]>>(names: string[], old: C, more: C, keep: number, most = mostPoints): C {
  const result: Record<string, unknown[]> = {};
  for (const name of names) result[name] = [...(old[name] ?? []).slice(0, keep), ...(more[name] ?? [])].slice(-most);
  return result as C;
}

const keepOf = (part: unknown): number => Math.max(0, optional(fieldsOf(part).keep) ?? Infinity);

// The board after an event. Parts that did not change stay the same objects, so who shows them need not look again.
// Events of a name that this page does not know change nothing.
export function merge(board: Board | null, event: string, value: unknown): Board | null {
  if (event === "board") return readBoard(value);
  if (board === null) return null;
  switch (event) {
    case "now":
      return { ...board, now: readNow(value) };
    case "devices":
      return { ...board, devices: readDevices(value) };
    case "notes":
      return { ...board, notes: readNotes(value) };
    case "points": {
      const { rounds, evaluations } = fieldsOf(value);
      return {
        ...board,
        rounds: append(Object.keys(roundColumns), board.rounds, readRounds(rounds), keepOf(rounds)),
        evaluations: append(Object.keys(evaluationColumns), board.evaluations, readEvaluations(evaluations), keepOf(evaluations)),
      };
    }
    default:
      return board;
  }
}
