export class MockRun {
  constructor(facts?: { devices?: number; rounds?: number; seed?: number; panels?: string[]; left_out?: number });
  rounds: { seen: number };
  evaluations: { seen: number };
  skip(rounds: number): this;
  points(rounds: number, evaluations: number): unknown;
  board(): { rounds: { train_loss: number[] }; classes: { counts: number[][] } | null };
}
