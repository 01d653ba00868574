// Device states, in the order of a round. Each has a letter and a shape besides its colour (style.css).
export const states = [
  ["waiting", "Waiting", "·"],
  ["preparing", "Preparing", "P"],
  ["pulling", "Pulling", "↓"],
  ["busy", "Busy", "B"],
  ["computing", "Computing", "C"],
  ["pushing", "Sending", "↑"],
  ["done", "Done", "✓"],
  ["gone", "Gone", "×"],
] as const;

const byName = new Map<string, readonly [string, string, string]>(states.map((state) => [state[0], state]));

// Unknown states count as waiting.
export const knownState = (name: string): string => (byName.has(name) ? name : "waiting");
export const stateLabel = (name: string): string => byName.get(knownState(name))?.[1] ?? name;
export const stateGlyph = (name: string): string => byName.get(knownState(name))?.[2] ?? "";
