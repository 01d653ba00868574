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

// The first `keep` old points and the new ones: the program thins points, and the newest one may be
// provisional. Drops the oldest beyond `most`.
export function append<C extends Record<string, unknown[]>>(names: string[], old: C, more: C, keep: number, most = mostPoints): C {
  const result: Record<string, unknown[]> = {};
  for (const name of names) result[name] = [...(old[name] ?? []).slice(0, keep), ...(more[name] ?? [])].slice(-most);
  return result as C;
}

const keepOf = (part: unknown): number => Math.max(0, optional(fieldsOf(part).keep) ?? Infinity);

// The board after an event. Unchanged parts stay the same objects, so that viewers can skip them. Unknown
// events change nothing.
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
