import type { Devices } from "./board";

// Start and end of each part of a device's round, in seconds since its start. Only the total hidden transfer
// time is known, so pull and push share it in proportion.
export function partsOf(devices: Devices, row: number) {
  const at = (column: number[]) => Math.max(0, column[row] ?? 0);
  const pull = at(devices.pull_s);
  const compute = at(devices.compute_s);
  const push = at(devices.push_s);
  const hidden = Math.min(at(devices.hidden_s), pull + push, compute);
  const hiddenPull = pull + push > 0 ? (hidden * pull) / (pull + push) : 0;
  const begin = pull - hiddenPull;
  const end = begin + compute;
  const sent = end - (hidden - hiddenPull) + push;
  const wait = at(devices.wait_s);
  return { pull, begin, end, push: end - (hidden - hiddenPull), sent, all: sent + wait, hidden, planned: devices.planned_s[row] ?? null };
}

// How long a device was busy in its last round, including transfers.
export const tookOf = (devices: Devices, row: number): number => partsOf(devices, row).sent;
