import { expect, test } from "vitest";
import { readDevices } from "../board";
import { filtered } from "./fleet_filter";

const devices = readDevices({
  id: [0, 1, 2],
  name: ["attic", "Cellar", ""],
  group: ["phone", "board", "phone"],
  state: ["gone", "computing", "dancing"],
  outcome: ["lost", "applied", "applied"],
});
const rows = (choices: { text?: string; group?: string; state?: string }) =>
  filtered(devices, { axis: "round", text: "", group: "", state: "", selected: new Set(), ...choices });

test("devices are found by words, group and state", () => {
  expect(rows({})).toEqual([0, 1, 2]);
  expect(rows({ text: "CELL" })).toEqual([1]);
  expect(rows({ text: "phone applied" })).toEqual([2]);
  expect(rows({ text: "device 2" })).toEqual([2]);
  expect(rows({ group: "phone" })).toEqual([0, 2]);
  expect(rows({ state: "gone" })).toEqual([0]);
  expect(rows({ state: "waiting" })).toEqual([2]);
  expect(rows({ text: "nobody" })).toEqual([]);
});
