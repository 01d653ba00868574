import { expect, test } from "vitest";
import { formatBytes, formatBytesTick, formatCount, formatCountTick, formatNumber, formatSeconds, formatSecondsTick, formatShare, unknown } from "./format";

test.each([
  [0, "0 B"], [999, "999 B"], [1000, "1.00 kB"], [12345, "12.3 kB"], [999499, "999 kB"], [999500, "1.00 MB"],
  [228e6, "228 MB"], [3.11e12, "3.11 TB"], [5e18, "5000 PB"],
])("%d bytes are %s", (value, text) => expect(formatBytes(value)).toBe(text));

test.each([
  [0, "0 s"], [0.0032, "3.2 ms"], [0.0456, "45.6 ms"], [0.0999, "0.10 s"], [1.25, "1.25 s"], [2, "2 s"], [42.04, "42.0 s"], [42, "42 s"], [3.997, "4.00 s"],
  [59.96, "1 min"], [200, "3 min 20 s"], [3599.6, "1 h"], [7500, "2 h 5 min"], [86399, "1 d"], [273600, "3 d 4 h"], [-5, "−5 s"],
])("%d seconds are %s", (value, text) => expect(formatSeconds(value)).toBe(text));

test.each([
  [0, "0"], [0.0123456, "0.0123"], [1.23456, "1.23"], [99.96, "100"], [12345.6, "12,346"], [0.00001, "1.00e-5"], [2e9, "2.00e+9"], [-0.5, "-0.500"],
])("%d is %s", (value, text) => expect(formatNumber(value)).toBe(text));

test("what is not known is a dash", () => {
  for (const format of [formatBytes, formatSeconds, formatNumber, formatShare, formatCount])
    for (const value of [null, undefined, NaN, Infinity]) expect(format(value)).toBe(unknown);
});

test("marks of an axis share a unit and have no empty digits", () => {
  expect([0, 60, 120].map((value) => formatSecondsTick(value, 200))).toEqual(["0 min", "1 min", "2 min"]);
  expect(formatSecondsTick(0.05, 0.1)).toBe("50 ms");
  expect([0, 1e6, 2.5e6, 4e6].map(formatBytesTick)).toEqual(["0", "1 MB", "2.5 MB", "4 MB"]);
  expect([0.5, 2000, 10000, 2.5e6].map(formatCountTick)).toEqual(["0.5", "2000", "10 k", "2.5 M"]);
  expect(formatShare(0.8612, 2)).toBe("86.12 %");
});
