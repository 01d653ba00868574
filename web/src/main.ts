import "uplot/dist/uPlot.min.css";
import "./style.css";
import { h, setHidden, setText } from "./dom";
import { Live, takeToken } from "./live";
import { fleet } from "./panels/fleet";
import { Progress, TopBar } from "./panels/header";
import { learning } from "./panels/learning";
import { compression, dropout, gossip, partition, split, streams, transfers } from "./panels/mechanisms";
import { Numbers } from "./panels/numbers";
import { outcomes } from "./panels/outcomes";
import { Store } from "./store";
import { startTheme } from "./theme";

startTheme();

const store = new Store(render);
const top = new TopBar();
const progress = new Progress();
const numbers = new Numbers();
const panels = [
  learning(store),
  fleet(store),
  outcomes(),
  streams(store),
  split(store),
  dropout(store),
  compression(),
  transfers(),
  gossip(store),
  partition(),
];
const message = h("p", { class: "message", role: "alert", "data-testid": "message" }, "Waiting for the run …");
const content = h("div", { hidden: true }, progress.element, numbers.element, ...panels.map((panel) => panel.element));
document.getElementById("app")?.append(top.element, h("main", { id: "main", tabindex: -1 }, message, content));

let shown = false;

function render(): void {
  top.update(store);
  const { board, connection, why } = store;
  document.documentElement.dataset.connection = connection;
  const trouble = connection === "refused" || (board === null && connection === "lost");
  if (trouble) setText(message, connection === "refused" ? why : `The program does not respond (${why}). Retrying.`);
  setHidden(message, board !== null && !trouble);
  setHidden(content, board === null);
  if (board === null) return;
  progress.update(board);
  numbers.update(board);
  for (const panel of panels) {
    const used = panel.inUse(board);
    setHidden(panel.element, !used);
    if (used) panel.update(board);
  }
  if (!shown) performance.mark("tributary-shown");
  shown = true;
}

// A report contains its run and needs no program.
function start(): void {
  const embedded = document.getElementById("board")?.textContent?.trim() ?? "";
  if (embedded === "" && location.protocol === "file:") {
    setText(message, "This file contains no run; use tributary report RUN.");
    return;
  }
  if (embedded === "") {
    const live = new Live(takeToken(), {
      onEvent: (event, value) => store.take(event, value),
      onConnection: (state, why) => store.connect(state, why),
      finished: () => store.board?.now.state === "finished",
    });
    void live.follow();
    return;
  }
  store.connection = "report";
  try {
    store.take("board", JSON.parse(embedded));
  } catch (error) {
    setText(message, `This report cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return;
  }
  store.renderNow();
}

start();
