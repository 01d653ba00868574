import type { Board } from "../board";
import { xScales } from "../charts/axes";
import { LineChart } from "../charts/lines";
import { choice, setText } from "../dom";
import { formatCountTick, formatNumber, formatShare, formatShareTick } from "../format";
import type { Store, XAxis } from "../store";
import { always, section, type Panel } from "./panel";

export function learning(store: Store): Panel {
  const accuracy = new LineChart({
    id: "accuracy",
    title: "Accuracy",
    series: [{ label: "accuracy", colour: "c1", filled: true }],
    text: (value) => formatShare(value, 2),
    tick: formatShareTick,
    limit: 1,
    height: 260,
  });
  const loss = new LineChart({
    id: "loss",
    title: "Loss",
    series: [
      { label: "evaluated", colour: "c2" },
      { label: "in training", colour: "c3", dashed: true },
    ],
    text: formatNumber,
    tick: formatCountTick,
    height: 260,
  });
  const axis = choice<XAxis>(
    "Horizontal axis",
    [
      ["round", "Rounds"],
      ["time_s", "Time"],
      ["bytes", "Bytes"],
    ],
    store.choices.axis,
    (value) => store.choose({ axis: value }),
  );
  axis.element.dataset.testid = "axis";
  const element = section("learning", "Learning", "Over rounds, time or total bytes", axis.element, accuracy.element, loss.element);
  let seen: unknown[] = [];
  return {
    element,
    inUse: always,
    update({ run, rounds, evaluations }: Board) {
      const { axis: x } = store.choices;
      if (seen[0] === rounds && seen[1] === evaluations && seen[2] === x) return;
      seen = [rounds, evaluations, x];
      const time = element.querySelector('[data-value="time_s"]');
      if (time !== null) setText(time, run.simulated ? "Virtual time" : "Time");
      accuracy.update([{ x: evaluations[x], y: evaluations.accuracy }], xScales[x], run.target);
      loss.update(
        [
          { x: evaluations[x], y: evaluations.loss },
          { x: rounds[x], y: rounds.train_loss },
        ],
        xScales[x],
      );
    },
  };
}
