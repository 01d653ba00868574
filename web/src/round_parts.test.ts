import { expect, test } from "vitest";
import { readDevices } from "./board";
import { partsOf } from "./round_parts";

const one = (pull_s: number, compute_s: number, push_s: number, wait_s: number, hidden_s: number) =>
  partsOf(readDevices({ id: [0], pull_s: [pull_s], compute_s: [compute_s], push_s: [push_s], wait_s: [wait_s], hidden_s: [hidden_s], planned_s: [5] }), 0);

test("parts follow one another where nothing is hidden", () => {
  expect(one(1, 3, 2, 4, 0)).toEqual({ pull: 1, begin: 1, end: 4, push: 4, sent: 6, all: 10, hidden: 0, planned: 5 });
});

test("what is hidden shortens the round, in proportion to each transfer", () => {
  // A third of the 1.5 s is the pull's: computing begins at 0.5 and ends at 3.5, and the push is under way since 2.5.
  expect(one(1, 3, 2, 4, 1.5)).toEqual({ pull: 1, begin: 0.5, end: 3.5, push: 2.5, sent: 4.5, all: 8.5, hidden: 1.5, planned: 5 });
});

test("more cannot be hidden than there is", () => {
  expect(one(1, 0.5, 2, 0, 9).hidden).toBe(0.5);
  expect(one(0, 3, 0, 0, 1).all).toBe(3);
});
