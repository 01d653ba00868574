// Every pair of a decision and a method: those that the reader allows run, and are not the run without the decision; the
// others are refused in words that help.

#include "tributary/experiment/compatibility.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tributary/base/file.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/telemetry/event_json.h"

namespace tributary::inline coordinator {
namespace {

using std::filesystem::path;

// What came of a run, in a text: what was learnt, by whom, when, and what it cost. Not what the heading repeats of the
// experiment, nor what is only told about plans and streams: a decision must do more than be told.
struct Happenings : EventSink {
  void Write(const Event& event) override {
    if (std::holds_alternative<RunStarted>(event.what) || std::holds_alternative<Note>(event.what)) return;
    Event told = event;
    if (auto* device = std::get_if<DeviceFinished>(&told.what)) {
      *device = {.round = device->round,
                 .device = device->device,
                 .outcome = device->outcome,
                 .samples = device->samples,
                 .loss = device->loss,
                 .pull = device->pull,
                 .compute = device->compute,
                 .push = device->push,
                 .wait = device->wait,
                 .down = device->down,
                 .up = device->up};
    }
    if (auto* round = std::get_if<RoundFinished>(&told.what)) {
      ++rounds;
      round->buffered = 0;
      round->overlap.reset();
    }
    text += EventToJson(told) + "\n";
  }
  std::string text;
  std::uint64_t rounds = 0;
};

std::string Spelled(std::span<const std::string> settings) {
  std::string text;
  for (const std::string& setting : settings) text += " --set '" + setting + "'";
  return text;
}

class Pairs : public ::testing::Test {
 protected:
  // The files that some decisions name.
  Pairs() {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
    // Ten people who sit and walk; every fifth is kept for the test.
    for (int person = 0; person < 10; ++person) {
      const path home = folder_ / "recordings" / ("p" + std::to_string(person));
      std::filesystem::create_directories(home);
      std::ofstream file(home / "1.csv");
      file << "x,y,timestamp,label\n";
      for (int i = 0; i < 80; ++i) {
        file << person + i % 7 << "," << i % (2 + person) << "," << 10 * i << "," << (i < 40 ? "sit" : "walk")
             << "\n";
      }
    }
    const auto start = ReadPair(std::vector<std::string>{"train.method=sync-sgd", "experiment.seed=7"});
    EXPECT_TRUE(start.ok()) << start.status();
    EXPECT_TRUE(Simulate(*start, {.folder = folder_ / "start"}).ok());
    std::filesystem::copy_file(folder_ / "start" / "weights.safetensors", folder_ / "start.safetensors");
  }
  ~Pairs() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  struct Run {
    FinishedRun result;
    std::string happenings;
    std::uint64_t rounds = 0;
  };
  static StatusOr<Run> Finish(const std::vector<std::string>& settings, std::size_t threads = 1) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment, ReadPair(settings));
    Happenings happenings;
    TRIBUTARY_ASSIGN_OR_RETURN(FinishedRun run,
                               Simulate(experiment, {.threads = threads, .watcher = &happenings}));
    return Run{std::move(run), happenings.text, happenings.rounds};
  }
  // As it was the last time.
  const StatusOr<Run>& Once(const std::vector<std::string>& settings) {
    const auto [place, fresh] = known_.try_emplace(settings, InvalidArgument("not yet"));
    if (fresh) place->second = Finish(settings);
    return place->second;
  }

 private:
  const path before_ = std::filesystem::current_path();
  const path folder_ = path(::testing::TempDir()) / ("tributary_pairs_" + std::to_string(::getpid()));
  std::map<std::vector<std::string>, StatusOr<Run>> known_;
};

// Allowed, and yet the same here; and why that is no fault.
struct Exception {
  std::string_view key, method, why;
};
constexpr Exception kExceptions[] = {
    {"transfers.drift", "splitfed-v1", "plans of a front of two layers are the same, made anew or not"},
    {"transfers.drift", "splitfed-v2", "likewise"},
};

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kEvery = 5;  // All of them would take minutes there, and the release runs all.
#else
constexpr std::size_t kEvery = 1;
#endif

TEST_F(Pairs, ThatAreAllowedRunAndMakeADifference) {
  std::size_t number = 0;
  for (const Decision& decision : Decisions()) {
    for (const MethodChoice& method : MethodChoices()) {
      const std::vector<std::string> settings = PairSettings(method, decision);
      if (!ReadPair(settings).ok() || ++number % kEvery != 0) continue;
      SCOPED_TRACE(Spelled(settings));
      const auto with = Finish(settings);
      if (!with.ok()) {
        ADD_FAILURE() << with.status();
        continue;
      }
      const bool ends =
          decision.key() == "experiment.time-budget" || decision.key() == "experiment.target-accuracy";
      // Rounds without an applied update come on top.
      EXPECT_GE(with->rounds, ends ? 1U : 3U);
      EXPECT_LE(with->rounds, ends ? 1U : 5U);
      const auto without = SettingsWithout(method, decision);
      const auto& other = Once(without);
      if (!other.ok()) {
        ADD_FAILURE() << "without:" << Spelled(without) << ": " << other.status();
        continue;
      }
      EXPECT_GE(other->rounds, 3U);
      const bool excepted = std::ranges::any_of(kExceptions, [&](const Exception& exception) {
        return exception.key == decision.key() && exception.method == method.name;
      });
      EXPECT_EQ(with->happenings == other->happenings, excepted) << "without:" << Spelled(without);
      // Every seventh, which meets all methods and most decisions, on more threads.
      if (number % 7 != 0) continue;
      const auto again = Finish(settings, 2);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(again->result.digest, with->result.digest);
    }
  }
  EXPECT_GT(number, 200U);
}

TEST_F(Pairs, ThatAreNotAreRefusedInWordsThatNameTheKeyAndAWayOut) {
  std::size_t refused = 0;
  for (const Decision& decision : Decisions()) {
    const std::string key(decision.key());
    // Its section may stand for it, or what it refines; one of the fleet's groups is called by its last word.
    const std::string name = key.substr(0, key.find('.'));
    std::vector<std::string> names = {key, "[" + name + "]"};
    if (key.starts_with("fleet.group.")) names.push_back(key.substr(key.rfind('.') + 1));
    for (const std::string& given : decision.given) {
      if (given.starts_with(name + ".") && name != "fleet") names.push_back(given.substr(0, given.find('=')));
    }
    for (const MethodChoice& method : MethodChoices()) {
      const std::vector<std::string> settings = PairSettings(method, decision);
      const auto read = ReadPair(settings);
      if (read.ok()) continue;
      ++refused;
      SCOPED_TRACE(Spelled(settings));
      const std::string& words = read.status().message();
      const auto has = [&](std::string_view part) { return words.find(part) != std::string::npos; };
      EXPECT_TRUE(std::ranges::any_of(names, has)) << words;
      EXPECT_TRUE(has("only valid with") || has("leave out") || has("use ")) << words;
      EXPECT_FALSE(has("unknown") || has("missing")) << words;
      EXPECT_FALSE(words.starts_with("--set") || words.starts_with("pair.toml")) << words;
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace tributary::inline coordinator
