import type { Board } from "../board";
import { h, setText } from "../dom";
import { formatBytes, formatCount, formatNumber, formatShare } from "../format";

class Big {
  private readonly value: HTMLElement;
  private readonly below = h("span", { class: "below" });
  readonly element: HTMLElement;

  constructor(id: string, label: string) {
    this.value = h("b", { "data-testid": id });
    this.element = h("div", { class: "card number" }, h("span", { class: "label" }, label), this.value, this.below);
  }

  show(value: string, below: string): void {
    setText(this.value, value);
    setText(this.below, below || "\u00a0");
  }
}

// The main results of a run.
export class Numbers {
  private readonly accuracy = new Big("accuracy", "Accuracy");
  private readonly loss = new Big("loss", "Loss");
  private readonly down = new Big("bytes-down", "Sent to devices");
  private readonly up = new Big("bytes-up", "Sent by devices");
  private readonly waiting = new Big("waiting", "Time spent waiting");
  private readonly applied = new Big("applied", "Updates applied");
  readonly element = h(
    "div",
    { class: "numbers" },
    ...[this.accuracy, this.loss, this.down, this.up, this.waiting, this.applied].map((big) => big.element),
  );

  update({ run, now, rounds, evaluations }: Board): void {
    const trainLoss = rounds.train_loss[rounds.train_loss.length - 1] ?? null;
    const best = evaluations.accuracy.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
    this.accuracy.show(
      formatShare(now.accuracy, 2),
      run.target !== null ? `target ${formatShare(run.target)}` : best > 0 ? `best ${formatShare(best)}` : "",
    );
    this.loss.show(formatNumber(now.loss), trainLoss === null ? "" : `in training ${formatNumber(trainLoss)}`);
    const each = (bytes: number) => (run.devices > 0 ? `${formatBytes(bytes / run.devices)} per device` : "");
    this.down.show(
      formatBytes(now.bytes_down),
      now.bytes_injected > 0 ? `${formatBytes(now.bytes_injected)} shared samples` : each(now.bytes_down),
    );
    const saved = now.dense_bytes_up > 0 ? 1 - now.bytes_up / now.dense_bytes_up : 0;
    this.up.show(formatBytes(now.bytes_up), saved > 0.005 ? `${formatShare(saved, 0)} saved` : each(now.bytes_up));
    const last = rounds.waiting_share[rounds.waiting_share.length - 1] ?? null;
    this.waiting.show(formatShare(now.waiting_share), last === null ? "" : `last round ${formatShare(last, 0)}`);
    const missed = now.late + now.lost + now.refused + now.crashed;
    this.applied.show(formatCount(now.applied), missed > 0 ? `${formatCount(missed)} missed` : "none missed");
  }
}
