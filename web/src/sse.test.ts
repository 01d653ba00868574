import { expect, test } from "vitest";
import { EventParser } from "./sse";

const stream = 'event: now\ndata: {"round":1}\n\n: alive\n\r\nevent: notes\r\ndata: [\r\ndata: ]\r\n\r\ndata:x\n\nevent: empty\n\n';
const events = [
  { event: "now", data: '{"round":1}' },
  { event: "notes", data: "[\n]" },
  { event: "message", data: "x" },
];

test("a stream gives the same events however it is cut", () => {
  for (let size = 1; size <= stream.length; ++size) {
    const parser = new EventParser();
    const got = [];
    for (let i = 0; i < stream.length; i += size) got.push(...parser.feed(stream.slice(i, i + size)));
    expect(got).toEqual(events);
  }
});

test("an event without an end is refused", () => {
  const parser = new EventParser(100);
  expect(() => parser.feed(`data: ${"x".repeat(200)}`)).toThrow(/too large/);
  const lines = new EventParser(100);
  expect(() => lines.feed("data: 0123456789\n".repeat(20))).toThrow(/too large/);
});
