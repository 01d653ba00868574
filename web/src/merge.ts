import {
  evaluationColumns,
  mostPoints,
  readBoard,
  readDevices,
  readEvaluations,
  readNotes,
  readNow,
  readRounds,
  roundColumns,
  type Board,
} from "./board";

// Adds points at the end. One of a round that is the last already takes its place, earlier ones are passed over: after a
// reconnection some may come twice. The oldest go where there are more than `most`.
export function append<C extends Record<string, unknown[]>>(names: string[], old: C, more: C, most = mostPoints): C {
  const oldRounds = old.round as number[];
  const newRounds = more.round as number[];
  const last = oldRounds.length > 0 ? (oldRounds[oldRounds.length - 1] as number) : -Infinity;
  let from = 0;
  while (from < newRounds.length && (newRounds[from] as number) < last) ++from;
  if (from === newRounds.length) return old;
  const keep = newRounds[from] === last ? oldRounds.length - 1 : oldRounds.length;
  const result: Record<string, unknown[]> = {};
  for (const name of names)
    result[name] = [...(old[name] ?? []).slice(0, keep), ...(more[name] ?? []).slice(from)].slice(-most);
  return result as C;
}

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
      const points = value as { rounds?: unknown; evaluations?: unknown } | null;
      return {
        ...board,
        rounds: append(Object.keys(roundColumns), board.rounds, readRounds(points?.rounds)),
        evaluations: append(
          Object.keys(evaluationColumns),
          board.evaluations,
          readEvaluations(points?.evaluations),
        ),
      };
    }
    default:
      return board;
  }
}
