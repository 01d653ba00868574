#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tributary/base/rng.h"
#include "tributary/experiment/explain.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kEverything;
using testing::kLeast;
using testing::Replaced;

Experiment Read(std::string_view text, std::vector<std::string> overrides = {}) {
  auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, overrides);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? std::move(read).value() : Experiment();
}

void ExpectEqual(const AvailabilityKind& a, const AvailabilityKind& b) {
  ASSERT_EQ(a.index(), b.index());
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&a);
  if (trace == nullptr) {
    EXPECT_EQ(a, b);
    return;
  }
  const auto& other = std::get<std::shared_ptr<const Trace>>(b);
  EXPECT_EQ((*trace)->steps(), other->steps());
  EXPECT_EQ((*trace)->after(), other->after());
}

// Field by field, so that one which the writer forgets is missed.
void ExpectEqual(const Experiment& a, const Experiment& b) {
  EXPECT_EQ(std::tie(a.goal.name, a.goal.about, a.goal.seed, a.goal.rounds, a.goal.time_budget,
                     a.goal.target_accuracy, a.goal.evaluate_every),
            std::tie(b.goal.name, b.goal.about, b.goal.seed, b.goal.rounds, b.goal.time_budget,
                     b.goal.target_accuracy, b.goal.evaluate_every));
  EXPECT_EQ(std::tie(a.model.name, a.model.stem, a.model.compute_as),
            std::tie(b.model.name, b.model.stem, b.model.compute_as));
  const SplitOptions &s = a.data.split, &t = b.data.split;
  EXPECT_EQ(std::tie(s.kind, s.devices, s.alpha, s.classes_per_device, s.shards_per_device, s.seed),
            std::tie(t.kind, t.devices, t.alpha, t.classes_per_device, t.shards_per_device, t.seed));
  EXPECT_EQ(std::tie(a.data.set, a.data.train_limit, a.data.test_limit, a.data.hold_out),
            std::tie(b.data.set, b.data.train_limit, b.data.test_limit, b.data.hold_out));
  EXPECT_EQ(std::tie(a.fleet.servers, a.fleet.participation, a.fleet.deadline, a.fleet.quorum),
            std::tie(b.fleet.servers, b.fleet.participation, b.fleet.deadline, b.fleet.quorum));
  ASSERT_EQ(a.fleet.groups.size(), b.fleet.groups.size());
  for (std::size_t i = 0; i < a.fleet.groups.size(); ++i) {
    const Group &g = a.fleet.groups[i], &h = b.fleet.groups[i];
    EXPECT_EQ(std::tie(g.name, g.count, g.compute, g.memory, g.uplink, g.downlink, g.round_trip, g.setup,
                       g.stream_rate, g.stream_programme),
              std::tie(h.name, h.count, h.compute, h.memory, h.uplink, h.downlink, h.round_trip, h.setup,
                       h.stream_rate, h.stream_programme));
    ExpectEqual(g.availability, h.availability);
  }
  const Training &p = a.train, &q = b.train;
  EXPECT_EQ(std::tie(p.method, p.batch, p.local_steps, p.local_epochs, p.label_smoothing, p.augment.flip,
                     p.augment.padding, p.prox, p.calibrate, p.server_optimiser),
            std::tie(q.method, q.batch, q.local_steps, q.local_epochs, q.label_smoothing, q.augment.flip,
                     q.augment.padding, q.prox, q.calibrate, q.server_optimiser));
  const OptimiserOptions &o = p.optimiser, &r = q.optimiser;
  EXPECT_EQ(std::tie(o.name, o.momentum, o.nesterov, o.weight_decay, o.beta1, o.beta2, o.epsilon),
            std::tie(r.name, r.momentum, r.nesterov, r.weight_decay, r.beta1, r.beta2, r.epsilon));
  const ScheduleOptions &u = p.schedule, &v = q.schedule;
  EXPECT_EQ(std::tie(u.name, u.learning_rate, u.warmup_steps, u.milestones, u.factor, u.floor),
            std::tie(v.name, v.learning_rate, v.warmup_steps, v.milestones, v.factor, v.floor));
  EXPECT_EQ(a.stream.recorded_speed, b.stream.recorded_speed);
  EXPECT_EQ(a.compression, b.compression);
  EXPECT_EQ(std::tie(a.aggregation.rule, a.aggregation.numbers),
            std::tie(b.aggregation.rule, b.aggregation.numbers));
  EXPECT_EQ(a.trust, b.trust);
  EXPECT_EQ(a.disturbances, b.disturbances);
}

void ExpectRoundTrip(const Experiment& experiment) {
  const std::string text = FormatExperiment(experiment);
  const auto back = ReadExperimentText(text, {"as-run.toml", std::nullopt});
  ASSERT_TRUE(back.ok()) << back.status() << "\n" << text;
  ExpectEqual(experiment, *back);
  EXPECT_EQ(FormatExperiment(*back), text);
}

TEST(Format, EveryFieldComesBack) { ExpectRoundTrip(Read(kEverything)); }

TEST(Format, DefaultsComeBack) {
  ExpectRoundTrip(Read(kLeast));
  ExpectRoundTrip(Read(Replaced(Replaced(kLeast, "\"federated\"", "\"sync-sgd\""), "local-steps = 5", "")));
}

TEST(Format, EveryAlternativeComesBack) {
  for (const std::string setting :
       {"train.optimiser=adam", "train.schedule=cosine", "train.server-optimiser=none",
        "train.augment=standard", "train.server-optimiser={ kind = \"momentum\", momentum = 0.5 }",
        "train.server-optimiser=adam", "data.split={ kind = \"dirichlet\", alpha = 0.1 }",
        "data.split={ kind = \"shards\", shards-per-device = 3 }",
        "data.split={ kind = \"classes-per-device\", classes-per-device = 3 }", "fleet.participation=2",
        "data.split=source", "fleet.quorum=0.5", "data.set=./folder with \"quotes\"",
        "experiment.time-budget=1e-9", "experiment.time-budget=123456789012ns",
        "fleet.group.0.round-trip=0.1234567891234",
        "fleet.group.0.availability={ trace = [[0, 0.5], [\"3ns\", 0.1]], after = \"hold\" }"}) {
    SCOPED_TRACE(setting);
    ExpectRoundTrip(Read(kLeast, {setting}));
  }
  ExpectRoundTrip(
      Read(kLeast, {"train.optimiser=adam", "train.beta1=0.5", "train.beta2=0.6", "train.epsilon=1e-5"}));
  ExpectRoundTrip(Read(kLeast, {"train.schedule=cosine", "train.floor=0.001"}));
}

TEST(Format, PresetsComeBack) {
  for (const Preset& preset : ListPresets()) {
    const auto experiment = FindExperiment(preset.name);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    ExpectRoundTrip(*experiment);
  }
}

using Json = nlohmann::ordered_json;

std::int64_t Below(Rng& rng, std::int64_t n) {
  return static_cast<std::int64_t>(rng.Below(static_cast<std::uint64_t>(n)));
}

// A random value that the JSON Schema of a key allows, as TOML.
std::string DrawValue(const Json& schema, Rng& rng) {
  const auto one_of = [&](const Json& list) {
    return list[static_cast<std::size_t>(Below(rng, static_cast<std::int64_t>(list.size())))];
  };
  if (schema.contains("anyOf")) return DrawValue(one_of(schema["anyOf"]), rng);
  if (schema.contains("enum")) return one_of(schema["enum"]).dump();
  if (schema.contains("const")) return schema["const"].dump();
  if (schema.contains("examples") && !schema["examples"].empty()) return one_of(schema["examples"]).dump();
  const Json& type = schema["type"];
  if (type == "boolean") return Below(rng, 2) == 0 ? "true" : "false";
  if (type == "integer") {
    const std::int64_t low = schema["minimum"], high = schema["maximum"];
    return std::to_string(Below(rng, 8) == 0 ? high
                                             : low + Below(rng, std::min<std::int64_t>(high - low, 50) + 1));
  }
  if (type == "number") {
    const double low = schema.contains("minimum") ? schema["minimum"] : schema["exclusiveMinimum"];
    const double high = schema.contains("maximum")            ? double(schema["maximum"])
                        : schema.contains("exclusiveMaximum") ? double(schema["exclusiveMaximum"])
                                                              : 1e6;
    const double share = (static_cast<double>(Below(rng, 1000)) + 0.5) / 1000;
    return FormatNumber(low + (std::min(high, low + 1) - low) * share);
  }
  if (type == "array") {
    std::string items;
    for (std::int64_t i = 0; i <= Below(rng, 3); ++i)
      items += (items.empty() ? "" : ", ") + DrawValue(schema["items"], rng);
    return "[" + items + "]";
  }
  if (!schema.contains("properties")) return "\"text\"";
  std::string members;
  for (const auto& [key, member] : schema["properties"].items()) {
    const Json& required = schema["required"];
    if (std::find(required.begin(), required.end(), key) == required.end() && Below(rng, 3) > 0) continue;
    members += (members.empty() ? "" : ", ") + key + " = " + DrawValue(member, rng);
  }
  return "{ " + members + " }";
}

// Settings for some keys of some sections, each drawn on its own.
std::vector<std::string> DrawSettings(const Json& schema, Rng& rng) {
  std::vector<std::string> settings;
  for (const auto& [section, members] : schema["properties"].items()) {
    if (section == "disturbance" && Below(rng, 4) == 0)
      settings.push_back(section + "=" + DrawValue(members, rng));
    // Few sections at a time: many do not go with each other.
    if (!members.contains("properties") || section == "against" || Below(rng, 4) > 0) continue;
    for (const auto& [key, member] : members["properties"].items()) {
      if (Below(rng, 2) == 0 && key != "group" && section + "." + key != "train.method")
        settings.push_back(section + "." + key + "=" + DrawValue(member, rng));
    }
    if (section != "fleet") continue;
    for (const auto& [key, member] : members["properties"]["group"]["items"]["properties"].items()) {
      if (Below(rng, 4) == 0) settings.push_back("fleet.group.0." + key + "=" + DrawValue(member, rng));
    }
  }
  return settings;
}

std::string KeyOfSetting(const std::string& setting) { return setting.substr(0, setting.find('=')); }

// Leaves out settings that do not go with the others, until the rest can be read.
std::vector<std::string> Fitting(const std::string& text, std::vector<std::string> settings, Rng& rng) {
  while (true) {
    const auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, settings);
    if (read.ok() || settings.empty()) return settings;
    const auto refused = std::find_if(settings.begin(), settings.end(), [&](const std::string& setting) {
      return read.status().message().starts_with("--set " + setting.substr(0, 80));
    });
    const auto chance = settings.begin() + Below(rng, static_cast<std::int64_t>(settings.size()));
    settings.erase(refused == settings.end() ? chance : refused);
  }
}

// The values come from the JSON Schema, which comes from the lists of options.
TEST(Format, RandomExperimentsComeBack) {
  const Json schema = Json::parse(FormatSchema());
  Rng rng(20261118);
  std::set<std::string> seen;
  const std::string other = Replaced(kLeast, "local-steps = 5\n", "");
  const std::string split = Replaced(other, "federated", "split");
  const std::string sync = Replaced(other, "federated", "sync-sgd");
  const std::string deadline = Replaced(kLeast, "[[fleet", "[fleet]\ndeadline = 5\n[[fleet");
  const std::vector<std::string> texts = {
      std::string(kLeast),
      deadline,
      deadline + "[dropout]\nmethod = \"pareto\"\nfront = \"resnet8\"\n",
      sync,
      Replaced(sync, "[train]", "stream-rate = 9\n[train]") + "[stream]\nbatch = \"stream-rate\"\n",
      split,
      split + "[sampling]\nmethod = \"lds\"\n",
      split + "[sampling]\nmethod = \"deadline\"\n",
      Replaced(other, "federated", "gossip")};
  for (std::size_t i = 0; i < 1000 && !HasFailure(); ++i) {
    const std::string& text = texts[i % texts.size()];
    const std::vector<std::string> settings = Fitting(text, DrawSettings(schema, rng), rng);
    std::string all;
    for (const std::string& setting : settings) all += setting + "\n";
    SCOPED_TRACE(all);
    ExpectRoundTrip(Read(text, settings));
    for (const std::string& setting : settings) seen.insert(KeyOfSetting(setting));
  }
  // Every key was part of an experiment, but for those that need files, other methods or extensions.
  for (const auto& [section, members] : schema["properties"].items()) {
    if (!members.contains("properties") || section == "against") continue;
    for (const auto& [key, member] : members["properties"].items()) {
      const std::string path = section + "." + key;
      if (path == "model.input" || path == "model.onnx" || path == "model.graph" || path == "stream.kind" ||
          path == "train.method")
        continue;
      EXPECT_TRUE(path == "fleet.group" || seen.contains(path)) << path;
    }
  }
}

TEST(Format, IsWrittenForPeople) {
  const std::string text = FormatExperiment(Read(kEverything));
  for (const auto line :
       {"time-budget = \"10min\"\n", "compute = \"normal(2G, 500M)\"\n",
        "uplink = [\"1Mbit/s\", \"2.5Mbit/s\"]\n",
        "servers = [{ up = \"1Gbit/s\", down = \"2Gbit/s\" }, { up = \"500Mbit/s\", down = \"3Gbit/s\" }]\n",
        "split = { kind = \"extended-dirichlet\", alpha = 0.3, classes-per-device = 4 }\n",
        "memory = \"1000TB\"\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace tributary::inline experiment
