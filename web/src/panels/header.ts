import type { Board } from "../board";
import { h, setAttribute, setHidden, setText } from "../dom";
import { formatCount, formatSeconds } from "../format";
import type { Store } from "../store";
import { themeSwitch } from "../theme";

const methods: Record<string, string> = {
  federated: "Federated",
  "sync-sgd": "Synchronous SGD",
  split: "Split learning",
  gossip: "Gossip",
};
const endings: Record<string, string> = {
  rounds: "Finished: all rounds done",
  time: "Finished: time limit reached",
  target: "Finished: target reached",
  interrupted: "Interrupted",
};
const running: Record<string, string> = { waiting: "Waiting for devices", running: "Running", finished: "Finished" };
const connections: Record<string, string> = {
  connecting: "Connecting …",
  live: "Live",
  lost: "Connection lost, trying again",
  ended: "Run over, program exited",
  refused: "Token required",
  report: "Report",
};

// Name of the experiment and state of the connection; always visible.
export class TopBar {
  private readonly experiment = h("h1", { "data-testid": "experiment" }, "Tributary");
  private readonly pill = h("span", { class: "pill", role: "status", "data-testid": "connection" });
  readonly element = h(
    "header",
    { class: "top" },
    h("a", { class: "skip", href: "#main" }, "Skip to the content"),
    h("span", { class: "brand", "aria-hidden": "true" }, "Tributary"),
    this.experiment,
    this.pill,
    themeSwitch(),
  );

  update(store: Store): void {
    setText(this.pill, connections[store.connection] ?? store.connection);
    setAttribute(this.pill, "data-state", store.connection);
    setAttribute(this.pill, "title", store.why);
    if (store.board === null) return;
    const { run, now } = store.board;
    setText(this.experiment, run.experiment);
    const round = run.rounds > 0 ? `${now.round}/${run.rounds}` : String(now.round);
    document.title = store.connection === "report" ? `${run.experiment} – report` : `${run.experiment} – round ${round}`;
  }
}

// What runs, and its progress.
export class Progress {
  private readonly about = h("ul", { class: "about", "data-testid": "about" });
  private readonly state = h("span", { class: "state", "data-testid": "run-state" });
  private readonly round = h("b", { "data-testid": "round" });
  private readonly time = h("b", { "data-testid": "time" });
  private readonly timeName = h("span", {});
  private readonly back = h("b", { "data-testid": "back" });
  private readonly backPart = h("span", {}, "back ", this.back);
  private readonly fill = h("div", { class: "fill" });
  private readonly bar = h(
    "div",
    { class: "progress", role: "progressbar", "aria-label": "Rounds", "aria-valuemin": 0 },
    this.fill,
  );
  private described: Board["run"] | null = null;
  readonly element = h(
    "div",
    { class: "card run" },
    this.about,
    h("div", { class: "where" }, this.state, h("span", {}, "round ", this.round), h("span", {}, this.timeName, " ", this.time), this.backPart),
    this.bar,
  );

  update({ run, now }: Board): void {
    if (run !== this.described) {
      this.described = run;
      const facts = [
        methods[run.method] ?? run.method,
        `${run.model} on ${run.data}`,
        run.compute_as === "" ? "" : `computing as ${run.compute_as}`,
        `${formatCount(run.devices)} ${run.simulated ? "simulated " : ""}devices`,
        run.parameters > 0 ? `${formatCount(run.parameters)} parameters` : "",
        run.deadline_s === null ? "" : `deadline ${formatSeconds(run.deadline_s)}`,
        `seed ${run.seed}`,
      ];
      this.about.replaceChildren(...facts.filter((fact) => fact !== "").map((fact) => h("li", {}, fact)));
      setText(this.timeName, run.simulated ? "virtual time" : "time");
    }
    setText(this.state, now.state === "finished" ? (endings[now.ended_by] ?? "Finished") : (running[now.state] ?? now.state));
    setAttribute(this.state, "data-state", now.ended_by === "interrupted" ? "interrupted" : now.state);
    setText(this.round, run.rounds > 0 ? `${formatCount(now.round)} of ${formatCount(run.rounds)}` : formatCount(now.round));
    setText(this.time, formatSeconds(now.time_s));
    setText(this.back, `${formatCount(now.back)} of ${formatCount(now.participants)}`);
    setHidden(this.backPart, now.state === "finished");
    setHidden(this.bar, run.rounds === 0);
    setAttribute(this.bar, "aria-valuemax", String(run.rounds));
    setAttribute(this.bar, "aria-valuenow", String(now.round));
    // The current round counts in part, so that progress is visible in long rounds.
    const part = now.state === "running" && now.participants > 0 ? now.back / now.participants : 1;
    const done = now.round === 0 ? 0 : (now.round - 1 + part) / Math.max(1, run.rounds);
    this.fill.style.width = `${(Math.min(1, done) * 100).toFixed(2)}%`;
  }
}
