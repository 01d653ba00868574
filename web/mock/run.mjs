// A run that never happened, told as the program tells one: for work on the page and for tests of it. The same seed gives
// the same run.

const classes = 10;
const parameters = 77754;

function generator(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Every 2^k-th point and the newest, at most a thousand: as the program thins.
class Thinned {
  points = [];
  stride = 1;
  seen = 0;
  thinnings = 0;
  add(point) {
    if (this.points.length > 0 && (this.seen - 1) % this.stride !== 0) this.points.pop();
    if (this.points.length === 1000) {
      this.points = this.points.filter((_, i) => i % 2 === 0);
      this.stride *= 2;
      ++this.thinnings;
    }
    this.points.push(point);
    ++this.seen;
  }
  // What is new to one who knew the first `known` of all, and how many points that one keeps.
  columns(names, known) {
    const keep = known === 0 ? 0 : Math.min(this.points.length, Math.floor((known - 1) / this.stride) + 1);
    return { ...Object.fromEntries(names.map((name) => [name, this.points.slice(keep).map((point) => point[name])])), keep };
  }
}

const roundNames = ["round", "time_s", "bytes", "duration_s", "train_loss", "applied", "participants", "waiting_share", "buffered", "overlap", "kept", "bytes_up", "dense_bytes_up", "deviation"];
const evaluationNames = ["round", "time_s", "bytes", "accuracy", "loss"];
const groups = [
  { name: "phone", speed: 1, rate: 40, link: 2e5 },
  { name: "board", speed: 0.45, rate: 14, link: 8e4 },
  { name: "laptop", speed: 2.2, rate: 75, link: 9e5 },
];

export class MockRun {
  constructor({ devices = 12, rounds = 120, seed = 1, panels = ["streams", "dropout", "compression", "transfers", "partition", "split", "gossip"], left_out = 0 } = {}) {
    this.random = generator(seed);
    this.facts = { devices, rounds, seed, panels: new Set(panels), left_out };
    this.rounds = new Thinned();
    this.evaluations = new Thinned();
    this.now = { round: 0, time_s: 0, participants: devices, back: 0, state: "waiting", ended_by: null, accuracy: null, loss: null, bytes_down: 0, bytes_up: 0, bytes_relayed: 0, bytes_injected: 0, dense_bytes_up: 0, waiting_share: null, applied: 0, late: 0, lost: 0, refused: 0, crashed: 0 };
    this.waited = this.lasted = 0;
    this.notes = [];
    this.gone = new Set();
    this.classes = Array.from({ length: devices }, (_, i) =>
      Array.from({ length: classes }, (_, c) => Math.floor(500 * Math.exp(-((c - (i * 7) % classes) ** 2) / (2 + 6 * this.random())) * (0.5 + this.random()))));
    this.devices = Array.from({ length: devices }, (_, id) => {
      const group = groups[id % 3];
      return { id, name: devices <= 50 ? `${group.name}-${String(id + 1).padStart(2, "0")}` : "", group: group.name, speed: group.speed * (0.6 + 0.8 * this.random()), link: group.link * (0.5 + this.random()), base: group.rate * (0.5 + this.random()), state: "waiting", outcome: "", reason: "", applied: 0, missed: 0, round: 0, samples: 0, loss: null, pull_s: 0, compute_s: 0, push_s: 0, wait_s: 0, hidden_s: 0, planned_s: null, rate: null, buffered: 0, dropped: 0, kept: null, met: null, bytes_down: 0, bytes_up: 0 };
    });
    this.note("Training begins");
  }

  note(text) {
    this.notes = [...this.notes, { time_s: this.now.time_s, text }].slice(-50);
  }

  // How far devices are, with a share of the round gone by.
  show(share) {
    let back = 0;
    for (const device of this.devices) {
      if (this.gone.has(device.id)) {
        device.state = "gone";
        continue;
      }
      const plan = device.next ?? { pull: 0.1, compute: 0.6, push: 0.1 };
      const end = plan.pull + plan.compute + plan.push;
      device.state = share < plan.pull ? "pulling" : share < plan.pull + plan.compute ? "computing" : share < end ? "pushing" : share < 1 ? "waiting" : "done";
      if (share >= end) ++back;
    }
    this.now.back = back;
  }

  begin() {
    if (this.now.state === "finished") return;
    this.now.state = "running";
    ++this.now.round;
    this.now.back = 0;
    const { panels } = this.facts;
    for (const device of this.devices) {
      const kept = panels.has("dropout") ? Math.min(1, Math.max(0.135, 0.3 * device.speed + 0.1 * this.random())) : 1;
      const samples = 20 + Math.floor(30 * device.speed * (0.7 + 0.6 * this.random()));
      const bytes = parameters * 4;
      const pull = bytes / device.link;
      const compute = (samples * kept) / (12 * device.speed) * (0.85 + 0.4 * this.random());
      const push = (bytes * (panels.has("compression") ? 0.12 : 1)) / device.link;
      const hidden = panels.has("transfers") ? 0.55 * Math.min(compute, pull + push) : 0;
      device.coming = { samples, kept, pull, compute, push, hidden, took: pull + compute + push - hidden };
    }
    const duration = Math.max(...this.devices.map((device) => device.coming.took));
    this.duration = duration;
    for (const device of this.devices) {
      const { pull, compute, push, hidden } = device.coming;
      device.next = { pull: (pull - hidden / 2) / duration, compute: compute / duration, push: (push - hidden / 2) / duration };
    }
  }

  finish() {
    const { now, facts, duration } = this;
    const { panels } = facts;
    const outcome = { applied: 0, late: 0, lost: 0, refused: 0, crashed: 0 };
    let waited = 0, lasted = 0, up = 0, dense = 0, kept = 0, buffered = 0;
    for (const device of this.devices) {
      const chance = this.random();
      const { coming } = device;
      device.round = now.round;
      device.outcome = this.gone.has(device.id) ? "lost" : chance < 0.015 ? "late" : chance < 0.02 ? "crashed" : chance < 0.023 ? "refused" : "applied";
      device.reason = { lost: "not heard of since its pull", late: "0.4 s after the deadline", crashed: "out of memory", refused: "<b>norm</b> 812 is above 100" }[device.outcome] ?? "";
      ++outcome[device.outcome];
      if (device.outcome === "applied") ++device.applied;
      else ++device.missed;
      Object.assign(device, { samples: coming.samples, pull_s: coming.pull, compute_s: coming.compute, push_s: coming.push, hidden_s: coming.hidden, wait_s: duration - coming.took, planned_s: coming.took * (0.9 + 0.15 * this.random()) });
      device.loss = 0.3 + 1.9 * Math.exp(-now.round / (facts.rounds / 4)) * (0.9 + 0.2 * this.random());
      if (panels.has("dropout")) device.kept = coming.kept;
      if (panels.has("gossip")) device.met = 1 + Math.floor(3 * this.random());
      if (panels.has("streams")) {
        device.rate = device.base * (0.9 + 0.2 * this.random());
        device.buffered = Math.max(0, Math.min(400, Math.round(device.buffered + device.rate * duration * 0.25 - (coming.samples + 0.35 * device.buffered) * (0.5 + 0.5 * this.random()))));
        device.dropped += device.buffered === 400 ? Math.round(device.rate) : 0;
      }
      const sent = Math.round(parameters * 4 * (panels.has("compression") ? 0.08 + 0.08 * this.random() : 1));
      device.bytes_down += parameters * 4;
      device.bytes_up += sent;
      now.bytes_down += parameters * 4;
      up += sent;
      dense += parameters * 4;
      waited += device.wait_s;
      lasted += duration;
      kept += coming.kept;
      buffered += device.buffered;
    }
    for (const [name, count] of Object.entries(outcome)) now[name] += count;
    this.waited += waited;
    this.lasted += lasted;
    now.time_s += duration;
    now.bytes_up += up;
    now.dense_bytes_up += dense;
    if (panels.has("gossip")) now.bytes_relayed += Math.round(up * 0.2);
    now.waiting_share = this.waited / this.lasted;
    const count = this.devices.length;
    const left = Math.exp(-now.round / (facts.rounds / 4.5));
    const noise = () => (this.random() - 0.5) * (0.02 + 0.05 * left);
    this.rounds.add({ round: now.round, time_s: now.time_s, bytes: now.bytes_down + now.bytes_up, duration_s: duration, train_loss: 0.42 + 1.85 * left + 2 * noise(), applied: outcome.applied, participants: count, waiting_share: waited / lasted, buffered, overlap: panels.has("transfers") ? 0.55 + noise() : null, kept: panels.has("dropout") ? kept / count : null, bytes_up: up, dense_bytes_up: panels.has("compression") ? dense : 0, deviation: panels.has("split") ? 0.08 + 0.12 * this.random() : null });
    if (now.round % Math.max(1, Math.round(facts.rounds / 1000)) === 0 || now.round === facts.rounds) {
      now.accuracy = 0.1 + 0.77 * (1 - left) + noise();
      now.loss = 0.48 + 1.8 * left + 2 * noise();
      this.evaluations.add({ round: now.round, time_s: now.time_s, bytes: now.bytes_down + now.bytes_up, accuracy: now.accuracy, loss: now.loss });
    }
    if (now.round % 25 === 0) this.note(`Round ${now.round}: checkpoint written <script>alert(1)</script>`);
    if (now.round >= facts.rounds) {
      now.state = "finished";
      now.ended_by = "rounds";
      for (const device of this.devices) device.state = "done";
      this.note("All rounds done");
    }
  }

  // Runs so many rounds at once.
  skip(rounds) {
    for (let i = 0; i < rounds; ++i) {
      this.begin();
      this.finish();
    }
    return this;
  }

  lose(id) {
    this.gone.add(id);
    this.devices[id].state = "gone";
    this.note(`${this.devices[id].name} is gone`);
  }

  find(id) {
    this.gone.delete(id);
    this.devices[id].state = "waiting";
    this.note(`${this.devices[id].name} is back`);
  }

  devicesPart() {
    const names = ["id", "name", "group", "state", "outcome", "reason", "applied", "missed", "round", "samples", "loss", "pull_s", "compute_s", "push_s", "wait_s", "hidden_s", "planned_s", "rate", "buffered", "dropped", "kept", "met", "bytes_down", "bytes_up"];
    return { left_out: this.facts.left_out, ...Object.fromEntries(names.map((name) => [name, this.devices.map((device) => device[name])])) };
  }

  points(rounds, evaluations) {
    return { rounds: this.rounds.columns(roundNames, rounds), evaluations: this.evaluations.columns(evaluationNames, evaluations) };
  }

  board() {
    const { devices, rounds, seed, panels } = this.facts;
    return {
      schema: 1,
      run: { experiment: "showcase", seed, method: "federated", model: "resnet8", compute_as: "", data: "cifar10", devices: devices + this.facts.left_out, parameters, rounds, target: 0.86, deadline_s: 6, simulated: true },
      now: this.now,
      ...this.points(0, 0),
      devices: this.devicesPart(),
      classes: panels.has("partition") ? { names: Array.from({ length: classes }, (_, c) => String(c)), counts: this.classes } : null,
      front: panels.has("dropout") ? [0.135, 0.2, 0.28, 0.37, 0.5, 0.64, 0.8, 1].map((cost) => ({ cost, convergence: 0.7 + 0.9 * Math.exp(-3 * cost) })) : null,
      notes: this.notes,
      panels: [...panels],
    };
  }
}
