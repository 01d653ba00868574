// The data of a run, checked and parsed: all external data pass through here. Lists are columns of equal
// length. Missing or invalid values become null, 0 or "".

import { deviceColumns, evaluationColumns, nowFields, roundColumns } from "./figures";

export const mostPoints = 4000;
const mostDevices = 1000;
const mostNotes = 50;
const mostClasses = 1000;
const longestText = 400;

type Kind = "number" | "optional" | "text";
type Spec = Record<string, Kind>;
type Value<K extends Kind> = K extends "number" ? number : K extends "optional" ? number | null : string;
type Values<S extends Spec> = { [Key in keyof S]: Value<S[Key]> };
export type Columns<S extends Spec> = { [Key in keyof S]: Value<S[Key]>[] };

export type Rounds = Columns<typeof roundColumns>;
export type Evaluations = Columns<typeof evaluationColumns>;
export type Devices = Columns<typeof deviceColumns> & { left_out: number };
export type Now = Values<typeof nowFields>;

export interface Run {
  experiment: string;
  seed: number;
  method: string;
  model: string;
  compute_as: string;
  data: string;
  devices: number;
  parameters: number;
  rounds: number;
  target: number | null;
  deadline_s: number | null;
  simulated: boolean;
}

export interface Note {
  time_s: number;
  text: string;
}

export interface Board {
  run: Run;
  now: Now;
  rounds: Rounds;
  evaluations: Evaluations;
  devices: Devices;
  classes: { names: string[]; counts: number[][] } | null;
  front: { cost: number; convergence: number }[] | null;
  notes: Note[];
  panels: Set<string>;
}

type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const optional = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
const number = (value: unknown): number => optional(value) ?? 0;
const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, longestText) : "");

const readers = { number, optional, text };

// The column `key` sets the length; other columns are truncated or padded to it.
function readColumns<S extends Spec>(spec: S, key: keyof S & string, value: unknown, most: number): Columns<S> {
  const fields = fieldsOf(value);
  const length = Math.min(listOf(fields[key]).length, most);
  const columns: Record<string, unknown[]> = {};
  for (const [name, kind] of Object.entries(spec)) {
    const raw = listOf(fields[name]);
    const read = readers[kind];
    const column = new Array<unknown>(length);
    for (let i = 0; i < length; ++i) column[i] = read(raw[i]);
    columns[name] = column;
  }
  return columns as Columns<S>;
}

export const readRounds = (value: unknown): Rounds => readColumns(roundColumns, "round", value, mostPoints);
export const readEvaluations = (value: unknown): Evaluations =>
  readColumns(evaluationColumns, "round", value, mostPoints);

export function readDevices(value: unknown): Devices {
  const columns = readColumns(deviceColumns, "id", value, mostDevices);
  return { ...columns, left_out: number(fieldsOf(value).left_out) };
}

export function readNow(value: unknown): Now {
  const fields = fieldsOf(value);
  const entries = Object.entries(nowFields).map(([name, kind]) => [name, readers[kind](fields[name])] as const);
  const now = Object.fromEntries(entries) as Now;
  return { ...now, state: now.state || "waiting" };
}

export const readNotes = (value: unknown): Note[] =>
  listOf(value)
    .slice(-mostNotes)
    .map((note) => ({ time_s: number(fieldsOf(note).time_s), text: text(fieldsOf(note).text) }));

function readRun(value: unknown): Run {
  const run = fieldsOf(value);
  return {
    experiment: text(run.experiment),
    seed: number(run.seed),
    method: text(run.method),
    model: text(run.model),
    compute_as: text(run.compute_as),
    data: text(run.data),
    devices: number(run.devices),
    parameters: number(run.parameters),
    rounds: number(run.rounds),
    target: optional(run.target),
    deadline_s: optional(run.deadline_s),
    simulated: run.simulated === true,
  };
}

function readClasses(value: unknown): Board["classes"] {
  const classes = fieldsOf(value);
  const names = listOf(classes.names).slice(0, mostClasses).map(text);
  const counts = listOf(classes.counts)
    .slice(0, mostDevices)
    .map((row) => {
      const list = listOf(row);
      return names.map((_, i) => Math.max(0, number(list[i])));
    });
  return names.length > 0 && counts.length > 0 ? { names, counts } : null;
}

function readFront(value: unknown): Board["front"] {
  const front = listOf(value)
    .slice(0, mostPoints)
    .map((point) => ({ cost: number(fieldsOf(point).cost), convergence: number(fieldsOf(point).convergence) }))
    .sort((a, b) => a.cost - b.cost);
  return front.length > 0 ? front : null;
}

// Throws, with a message for people, if the value is not a board or has another schema.
export function readBoard(value: unknown): Board {
  const board = fieldsOf(value);
  if (board.schema !== 1)
    throw new Error(
      `This page reads boards of schema 1, and the program sent ${board.schema === undefined ? "none" : `schema ${String(board.schema)}`}. Reload the page.`,
    );
  return {
    run: readRun(board.run),
    now: readNow(board.now),
    rounds: readRounds(board.rounds),
    evaluations: readEvaluations(board.evaluations),
    devices: readDevices(board.devices),
    classes: readClasses(board.classes),
    front: readFront(board.front),
    notes: readNotes(board.notes),
    panels: new Set(listOf(board.panels).map(text)),
  };
}

// A device's name; simulated devices have only a number.
export const nameOf = (devices: Devices, row: number): string =>
  devices.name[row] || `device ${devices.id[row] ?? row}`;
