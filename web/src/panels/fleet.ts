import type { Board } from "../board";
import type { Store } from "../store";
import { FleetFilter, filtered } from "./fleet_filter";
import { FleetMap } from "./fleet_map";
import { FleetTable } from "./fleet_table";
import { always, section, type Panel } from "./panel";
import { Timeline } from "./timeline";

export function fleet(store: Store): Panel {
  const filter = new FleetFilter(store);
  const map = new FleetMap(store, filter.legend);
  const timeline = new Timeline(store);
  const table = new FleetTable(store);
  return {
    element: section("fleet", "Fleet", "What each device does, and where its time goes", filter.element, map.element, timeline.element, table.element),
    inUse: always,
    update(board: Board) {
      const rows = filtered(board.devices, store.choices);
      filter.update(board.devices, rows);
      map.update(board.devices, rows);
      timeline.update(board.devices);
      table.update(board, rows);
    },
  };
}
