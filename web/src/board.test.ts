import { expect, test } from "vitest";
import { MockRun } from "../mock/run.mjs";
import { mostPoints, nameOf, readBoard, readDevices, readNotes, readRounds } from "./board";

test("a whole board is read as it was told", () => {
  const told = new MockRun({ devices: 3, rounds: 10 }).skip(4).board();
  const board = readBoard(JSON.parse(JSON.stringify(told)));
  expect(board.run.experiment).toBe("showcase");
  expect(board.rounds.round).toEqual([1, 2, 3, 4]);
  expect(board.rounds.train_loss).toEqual(told.rounds.train_loss);
  expect(board.devices.name).toEqual(["phone-01", "board-02", "laptop-03"]);
  expect(board.classes?.counts).toEqual(told.classes?.counts);
  expect(board.front).toHaveLength(8);
  expect(board.panels.has("streams")).toBe(true);
});

test("what is no board of this schema is refused in words", () => {
  for (const value of [null, [], "x", 3, {}, { schema: 2 }]) expect(() => readBoard(value)).toThrow(/schema/);
});

test("a board of nothing but its schema is empty, not an error", () => {
  const board = readBoard({ schema: 1 });
  expect(board.rounds.round).toEqual([]);
  expect(board.now.accuracy).toBeNull();
  expect(board.classes).toBeNull();
  expect(board.front).toBeNull();
});

test("columns are cut or filled to the length of the first, and other kinds become nothing", () => {
  const rounds = readRounds({ round: [1, 2, 3], time_s: [1], train_loss: ["x", NaN, 0.5, 4, 5], applied: "no" });
  expect(rounds.time_s).toEqual([1, 0, 0]);
  expect(rounds.train_loss).toEqual([null, null, 0.5]);
  expect(rounds.applied).toEqual([0, 0, 0]);
});

test("however much is sent, a bounded part is kept", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => i);
  expect(readRounds({ round: many }).round).toHaveLength(mostPoints);
  expect(readDevices({ id: many }).id).toHaveLength(1000);
  expect(readDevices({ id: [0], name: ["x".repeat(1e6)] }).name[0]).toHaveLength(400);
  const notes = readNotes(many.map((i) => ({ time_s: i, text: String(i) })));
  expect(notes).toHaveLength(50);
  expect(notes[49]?.text).toBe("99999");
});

test("a device without a name goes by its number", () => {
  const devices = readDevices({ id: [7, 8], name: ["", "attic"] });
  expect([nameOf(devices, 0), nameOf(devices, 1)]).toEqual(["device 7", "attic"]);
});
