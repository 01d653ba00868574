// Generated from the program's figures; a test compares them. Regenerate with
//   TRIBUTARY_WRITE_TYPES=1 dashboard_test --gtest_filter='BoardTypes.*'

export const nowFields = {
  round: "number",
  time_s: "number",
  participants: "number",
  back: "number",
  state: "text",
  ended_by: "text",
  accuracy: "optional",
  loss: "optional",
  bytes_down: "number",
  bytes_up: "number",
  bytes_relayed: "number",
  bytes_injected: "number",
  dense_bytes_up: "number",
  waiting_share: "optional",
  applied: "number",
  late: "number",
  lost: "number",
  refused: "number",
  crashed: "number",
} as const;

export const roundColumns = {
  round: "number",
  time_s: "number",
  bytes: "number",
  duration_s: "number",
  train_loss: "optional",
  applied: "number",
  participants: "number",
  waiting_share: "optional",
  buffered: "number",
  overlap: "optional",
  kept: "optional",
  bytes_up: "number",
  dense_bytes_up: "number",
  deviation: "optional",
} as const;

export const evaluationColumns = {
  round: "number",
  time_s: "number",
  bytes: "number",
  accuracy: "optional",
  loss: "optional",
} as const;

export const deviceColumns = {
  id: "number",
  name: "text",
  group: "text",
  state: "text",
  outcome: "text",
  reason: "text",
  applied: "number",
  missed: "number",
  round: "number",
  samples: "number",
  loss: "optional",
  pull_s: "number",
  compute_s: "number",
  push_s: "number",
  wait_s: "number",
  hidden_s: "number",
  planned_s: "optional",
  rate: "optional",
  buffered: "number",
  dropped: "number",
  kept: "optional",
  met: "optional",
  coding_s: "number",
  bytes_down: "number",
  bytes_up: "number",
} as const;

// Where the time of a device's last round went.
export const deviceTimes = ["pull_s", "compute_s", "push_s", "wait_s", "hidden_s", "coding_s"] as const;
