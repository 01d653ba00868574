import { expect, test } from "vitest";
import { MockRun } from "../mock/run.mjs";
import { mostPoints, readBoard } from "./board";
import { append, merge } from "./merge";

const start = () => readBoard(new MockRun({ devices: 3, rounds: 100 }).skip(5).board());

test("points told one by one make the board that is told whole", () => {
  const run = new MockRun({ devices: 3, rounds: 100 }).skip(5);
  let board = merge(null, "board", run.board());
  for (let i = 0; i < 20; ++i) {
    const { seen } = run.rounds;
    run.skip(1);
    board = merge(board, "points", run.points(seen, run.evaluations.seen - 1));
  }
  const whole = readBoard(run.board());
  expect(board?.rounds).toEqual(whole.rounds);
  expect(board?.evaluations).toEqual(whole.evaluations);
});

test("points that come twice are there once, and the last is replaced", () => {
  const names = ["round", "value"];
  const old = { round: [1, 2, 3], value: [10, 20, 30] };
  expect(append(names, old, { round: [2, 3, 4], value: [0, 33, 40] })).toEqual({ round: [1, 2, 3, 4], value: [10, 20, 33, 40] });
  expect(append(names, old, { round: [1, 2], value: [0, 0] })).toBe(old);
  expect(append(names, old, { round: [], value: [] })).toBe(old);
});

test("the oldest points go when there are too many", () => {
  let board = start();
  for (let i = 0; i < 60; ++i) {
    const round = Array.from({ length: 100 }, (_, k) => 6 + i * 100 + k);
    board = merge(board, "points", { rounds: { round, time_s: round }, evaluations: { round } }) ?? board;
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
  expect(merge(board, "points", null)?.rounds).toBe(board.rounds);
});
