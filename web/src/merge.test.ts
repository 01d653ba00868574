import { expect, test } from "vitest";
import { MockRun } from "../mock/run.mjs";
import { mostPoints, readBoard } from "./board";
import { append, merge } from "./merge";

const start = () => readBoard(new MockRun({ devices: 3, rounds: 100 }).skip(5).board());

// The second is one that is thinned: a page that keeps what was the newest once has more and more of them.
for (const skipped of [5, 1100])
  test(`points told one by one make the board that is told whole, after ${skipped} rounds`, () => {
    const run = new MockRun({ devices: 3, rounds: 2000 }).skip(skipped);
    let board = merge(null, "board", run.board());
    for (let i = 0; i < 50; ++i) {
      const { seen } = run.rounds;
      const evaluations = run.evaluations.seen;
      run.skip(1 + (i % 3));
      board = merge(board, "points", run.points(seen, evaluations));
      const whole = readBoard(run.board());
      expect(board?.rounds).toEqual(whole.rounds);
      expect(board?.evaluations).toEqual(whole.evaluations);
    }
  });

test("the first points stay and others follow", () => {
  const names = ["round", "value"];
  const old = { round: [1, 2, 3], value: [10, 20, 30] };
  expect(append(names, old, { round: [4], value: [40] }, 2)).toEqual({ round: [1, 2, 4], value: [10, 20, 40] });
  expect(append(names, old, { round: [], value: [] }, 9)).toEqual(old);
});

test("the oldest points go when there are too many", () => {
  let board = start();
  for (let i = 0; i < 60; ++i) {
    const round = Array.from({ length: 100 }, (_, k) => 6 + i * 100 + k);
    const keep = board.rounds.round.length;
    board = merge(board, "points", { rounds: { round, time_s: round, keep }, evaluations: { round, keep: 1e9 } }) ?? board;
  }
  expect(board.rounds.round).toHaveLength(mostPoints);
  expect(board.rounds.round[mostPoints - 1]).toBe(6005);
  expect(board.rounds.round[0]).toBe(6005 - mostPoints + 1);
  for (const column of Object.values(board.rounds)) expect(column).toHaveLength(mostPoints);
  expect(board.evaluations.round).toHaveLength(mostPoints);
});

test("a part that did not change stays the same object", () => {
  const board = start();
  const after = merge(board, "now", { round: 9, accuracy: 0.5 });
  expect(after?.now.round).toBe(9);
  expect(after?.rounds).toBe(board.rounds);
  expect(after?.devices).toBe(board.devices);
  expect(merge(board, "devices", { id: [1] })?.rounds).toBe(board.rounds);
  expect(merge(board, "notes", [{ time_s: 1, text: "a" }])?.notes).toEqual([{ time_s: 1, text: "a" }]);
});

test("a whole board replaces all; unknown events and parts before a board change nothing", () => {
  const board = start();
  expect(merge(board, "board", { schema: 1 })?.rounds.round).toEqual([]);
  expect(merge(board, "weather", { rain: true })).toBe(board);
  expect(merge(null, "now", { round: 1 })).toBeNull();
  expect(merge(board, "points", null)?.rounds).toEqual(board.rounds);
});
