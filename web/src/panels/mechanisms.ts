import type { Board } from "../board";
import { DeviceBars } from "../charts/bars";
import { FrontChart } from "../charts/front";
import { HeatMap } from "../charts/heat_map";
import { LineChart } from "../charts/lines";
import { h, setHidden, setText } from "../dom";
import { formatBytes, formatBytesTick, formatCount, formatCountTick, formatNumber, formatShare, formatShareTick } from "../format";
import type { Store } from "../store";
import { section, type Panel } from "./panel";

const known = (values: (number | null)[]): boolean => values.some((value) => value !== null);
const overRounds = ({ rounds }: Board, y: (number | null)[]) => [{ x: rounds.round, y }];

// Updates only if the parts of the board that it shows, or the choices, have changed.
function panel(id: string, element: HTMLElement, parts: (board: Board) => unknown[], inUse: (board: Board) => boolean, show: (board: Board) => void): Panel {
  let seen: unknown[] = [];
  return {
    element,
    inUse: (board) => board.panels.has(id) || inUse(board),
    update(board) {
      const now = parts(board);
      if (now.length === seen.length && now.every((part, i) => part === seen[i])) return;
      seen = now;
      show(board);
    },
  };
}

export function streams(store: Store): Panel {
  const rate = new DeviceBars({ id: "rate", title: "Stream rates", hint: "samples per second, by device", colour: "c1", text: formatNumber }, store);
  const buffered = new DeviceBars({ id: "buffered", title: "Buffers", hint: "samples waiting, by device", colour: "c4", text: formatCount }, store);
  const total = new LineChart({ id: "buffered-total", title: "Buffered over rounds", hint: "samples on all devices", series: [{ label: "buffered", colour: "c4", filled: true }], text: formatCount, tick: formatCountTick, from: "zero" });
  return panel(
    "streams",
    section("streams", "Streams", "Samples that arrive while the run goes on", null, rate.element, buffered.element, total.element),
    (board) => [board.devices, board.rounds, store.choices.selected],
    ({ devices }) => known(devices.rate),
    (board) => {
      rate.update(board.devices, board.devices.rate);
      buffered.update(board.devices, board.devices.buffered);
      total.update(overRounds(board, board.rounds.buffered));
    },
  );
}

export function split(store: Store): Panel {
  const samples = new DeviceBars({ id: "samples", title: "Last batch", hint: "samples by device", colour: "c3", text: formatCount }, store);
  const deviation = new LineChart({ id: "deviation", title: "Deviation of the batch", hint: "of its classes from all data", series: [{ label: "deviation", colour: "c2" }], text: formatShare, tick: formatShareTick, from: "zero", limit: 1 });
  return panel(
    "split",
    section("split", "Batch composition", "The devices' samples in the global batch", null, samples.element, deviation.element),
    (board) => [board.devices, board.rounds, store.choices.selected],
    () => false,
    (board) => {
      samples.update(board.devices, board.devices.samples);
      deviation.update(overRounds(board, board.rounds.deviation));
      setHidden(deviation.element, !known(board.rounds.deviation));
    },
  );
}

export function dropout(store: Store): Panel {
  const front = new FrontChart();
  const kept = new DeviceBars({ id: "kept", title: "Kept by device", hint: "share of the network's computation", colour: "c2", text: (value) => formatShare(value, 0), tick: formatShareTick, limit: 1, height: 200 }, store);
  const mean = new LineChart({ id: "kept-mean", title: "Kept over rounds", hint: "mean of the devices", series: [{ label: "kept", colour: "c2", filled: true }], text: formatShare, tick: formatShareTick, from: "zero", limit: 1, height: 200 });
  return panel(
    "dropout",
    section("dropout", "Dropout", "Share of the network that devices train", null, front.element, kept.element, mean.element),
    (board) => [board.front, board.devices, board.rounds, store.choices.selected],
    (board) => board.front !== null || known(board.devices.kept),
    (board) => {
      setHidden(front.element, board.front === null);
      if (board.front !== null) front.update(board.front, board.devices.kept);
      kept.update(board.devices, board.devices.kept);
      mean.update(overRounds(board, board.rounds.kept));
    },
  );
}

export function partition(): Panel {
  const map = new HeatMap();
  map.element.classList.add("wide");
  return panel(
    "partition",
    section("partition", "Partition", "Samples of each class on each device", null, map.element),
    (board) => [board.classes],
    (board) => board.classes !== null,
    (board) => {
      setHidden(map.element, board.classes === null);
      if (board.classes !== null) map.update(board.classes, board.devices);
    },
  );
}

export function compression(): Panel {
  const bytes = new LineChart({ id: "bytes-up", title: "Sent by devices", hint: "in each round", series: [{ label: "sent", colour: "c1", filled: true }, { label: "uncompressed", colour: "c2", dashed: true }], text: formatBytes, tick: formatBytesTick, from: "zero" });
  const saved = new LineChart({ id: "saved", title: "Saved by compression", hint: "of the bytes up, in each round", series: [{ label: "saved", colour: "c3" }], text: formatShare, tick: formatShareTick, from: "zero", limit: 1 });
  return panel(
    "compression",
    section("compression", "Compression", "Bytes sent by devices, compressed and uncompressed", null, bytes.element, saved.element),
    (board) => [board.rounds],
    () => false,
    (board) => {
      const { bytes_up, dense_bytes_up } = board.rounds;
      const dense = dense_bytes_up.map((value) => (value > 0 ? value : null));
      bytes.update([{ x: board.rounds.round, y: bytes_up }, { x: board.rounds.round, y: dense }]);
      saved.update(overRounds(board, dense.map((value, i) => (value === null ? null : Math.max(0, 1 - (bytes_up[i] as number) / value)))));
    },
  );
}

export function transfers(): Panel {
  const overlap = new LineChart({ id: "overlap", title: "Hidden transfers", hint: "share of the transfers that could overlap with computing", series: [{ label: "hidden", colour: "c5", filled: true }], text: formatShare, tick: formatShareTick, from: "zero", limit: 1 });
  const duration = new LineChart({ id: "duration", title: "Duration of a round", hint: "in seconds", series: [{ label: "duration", colour: "c1" }], text: (value) => `${formatNumber(value)} s`, tick: (value) => `${formatCountTick(value)} s`, from: "zero" });
  return panel(
    "transfers",
    section("transfers", "Transfers", "Transfers that overlap with computing", null, overlap.element, duration.element),
    (board) => [board.rounds],
    () => false,
    (board) => {
      overlap.update(overRounds(board, board.rounds.overlap));
      duration.update(overRounds(board, board.rounds.duration_s));
    },
  );
}

export function gossip(store: Store): Panel {
  const met = new DeviceBars({ id: "met", title: "Neighbours met", hint: "in the last round, by device", colour: "c1", text: formatCount }, store);
  const relayed = h("b", { "data-testid": "relayed" });
  const about = h("div", { class: "card number" }, h("span", { class: "label" }, "Relayed by the coordinator"), relayed, h("span", { class: "below" }, "for devices without a direct connection"));
  return panel(
    "gossip",
    section("gossip", "Gossip", "Devices that average their models", null, met.element, about),
    (board) => [board.devices, board.now, store.choices.selected],
    ({ devices }) => known(devices.met),
    (board) => {
      met.update(board.devices, board.devices.met);
      setText(relayed, formatBytes(board.now.bytes_relayed));
    },
  );
}
