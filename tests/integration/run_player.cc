// A made-up run of many devices and rounds, in which every mechanism is in use: what watching costs where training costs
// nothing.
//
//   run_player record FOLDER STORE DEVICES ROUNDS   writes the run through the sinks that 'tributary run' has: facts.json
//                                                   and events.jsonl in FOLDER, the list of runs, a board; says what each took
//   run_player serve DEVICES ROUNDS                 shows it as 'tributary run --dashboard' does. Lines on standard input say how
//                                                   it goes on: "play ROUND SECONDS" plays up to that round, spread over
//                                                   so much time, and is answered "at ROUND"
#include <sys/resource.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "tributary/base/file.h"
#include "tributary/base/rng.h"
#include "tributary/dashboard/server.h"
#include "tributary/store/run_store.h"
#include "tributary/store/store_sink.h"
#include "tributary/telemetry/prometheus.h"
#include "tributary/telemetry/sink.h"

namespace tributary {
namespace {

using std::chrono::steady_clock;

struct Size {
  std::uint64_t devices = 0, rounds = 0;
};

double Seconds(steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

RunMetadata MetadataOfRun(std::uint64_t devices) {
  RunMetadata metadata;
  metadata.target = 0.95;
  metadata.deadline = std::chrono::seconds(9);
  metadata.dense_update = {400'000};
  metadata.mechanisms = {"streams", "dropout", "compression", "transfers", "partition"};
  for (int i = 1; i <= 12; ++i) metadata.front.push_back({i / 12.0, 0.9 - 0.4 / i});
  for (std::uint64_t i = 0; i < devices; ++i) {
    RunMetadata::Device device;
    device.group = i % 3 == 0 ? "board" : i % 3 == 1 ? "phone" : "gateway";
    for (std::uint64_t c = 0; c < 10; ++c)
      device.class_counts.push_back(static_cast<std::int64_t>((i * 7 + c * 13) % 40));
    metadata.devices.push_back(std::move(device));
  }
  return metadata;
}

class MadeUpRun {
 public:
  explicit MadeUpRun(Size size) : size_(size) {}

  void Start(EventSink& sink) const {
    sink.Describe(MetadataOfRun(size_.devices));
    sink.Write({Duration(0), RunStarted{.experiment = "made-up",
                                        .seed = 1,
                                        .method = "federated",
                                        .model = "cnn",
                                        .data = "glyphs",
                                        .devices = size_.devices,
                                        .parameters = 100'000,
                                        .rounds = size_.rounds}});
  }

  // Rounds count from 1.
  void Play(EventSink& sink, std::uint64_t round) {
    const TimePoint begin = std::chrono::seconds(10 * (round - 1)), end = begin + std::chrono::seconds(10);
    sink.Write({begin, RoundStarted{{round}, size_.devices}});
    RoundFinished ended{.round = {round}, .duration = std::chrono::seconds(10)};
    for (std::uint64_t device = 0; device < size_.devices; ++device) {
      const DeviceFinished finished = Finished(round, device);
      switch (finished.outcome) {
        case Outcome::kLate:
          ++ended.late;
          break;
        case Outcome::kLost:
          ++ended.lost;
          break;
        default:
          ++ended.applied;
      }
      ended.bytes_down.value += finished.down.value;
      ended.bytes_up.value += finished.up.value;
      ended.buffered += finished.buffered;
      sink.Write({begin + finished.pull + finished.compute + finished.push, finished});
    }
    const double learnt = 1 - std::exp(-static_cast<double>(round) / 1500);
    ended.train_loss = 2.3 - 2 * learnt;
    ended.overlap = 0.5 + 0.2 * std::sin(static_cast<double>(round));
    sink.Write({end, ended});
    if (round % 10 == 0)
      sink.Write({end, Evaluated{.round = {round},
                                 .accuracy = 0.1 + 0.8 * learnt,
                                 .loss = 2.3 - 1.9 * learnt,
                                 .samples = 1000}});
    if (round % 97 == 0)
      sink.Write({end, Note{"device " + std::to_string(round % size_.devices) + " is back"}});
    if (round == size_.rounds) sink.Write({end, RunFinished{round, RunEnd::kRounds, 0.1 + 0.8 * learnt}});
  }

 private:
  DeviceFinished Finished(std::uint64_t round, std::uint64_t device) {
    const auto chance = [&] { return random_.Uniform(); };
    const auto seconds = [](double count) { return FromSeconds(count); };
    DeviceFinished finished{.round = {round}, .device = {device}};
    const double draw = chance();
    finished.outcome = draw < 0.01 ? Outcome::kLost : draw < 0.05 ? Outcome::kLate : Outcome::kApplied;
    if (finished.outcome == Outcome::kLost) finished.reason = "its messages were lost";
    if (finished.outcome == Outcome::kLate) finished.reason = "it came after the deadline of 9 s";
    finished.samples = 32;
    finished.loss = 2 * chance();
    finished.pull = seconds(0.5 + chance());
    finished.compute = seconds(2 + 4 * chance());
    finished.push = seconds(0.5 + chance());
    finished.hidden = seconds(0.5 * chance());
    finished.hideable = seconds(1);
    finished.wait = seconds(10) - finished.pull - finished.compute - finished.push;
    finished.planned = seconds(6);
    finished.down = {400'000};
    finished.up = {40'000};
    finished.stream_rate = 10 + 30 * chance();
    finished.buffered = static_cast<std::uint64_t>(100 * chance());
    finished.trained_share = 0.25 + 0.75 * chance();
    return finished;
  }

  const Size size_;
  Rng random_{1};
};

// A sink, and what it took of the thread that trains.
struct Timed {
  const char* name;
  EventSink& sink;
  steady_clock::duration taken{0};

  void Write(const std::vector<Event>& events) {
    const auto begin = steady_clock::now();
    for (const Event& event : events) sink.Write(event);
    taken += steady_clock::now() - begin;
  }
  void Say(std::uint64_t events) const {
    std::printf("%-28s %7.1f s, %6.0f ns an event\n", name, Seconds(taken),
                1e9 * Seconds(taken) / static_cast<double>(events));
  }
};

class Memory : public EventSink {
 public:
  void Write(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

int Record(const std::filesystem::path& folder, const std::filesystem::path& store, Size size) {
  std::filesystem::create_directories(folder);
  const RunMetadata metadata = MetadataOfRun(size.devices);
  TRIBUTARY_CHECK(WriteFileAtomically(folder / "facts.json", FormatRunMetadata(metadata)).ok());
  const auto log = JsonLinesSink::Create(folder / "events.jsonl").value();
  std::vector<std::string> groups;
  for (const RunMetadata::Device& device : metadata.devices) groups.push_back(device.group);
  auto stored = StoreSink::Create(
                    {.store = store, .name = folder.filename().string(), .folder = folder, .groups = groups})
                    .value();
  SharedBoard board;
  Timed sinks[] = {{"the event log", *log}, {"handing over to the store", *stored}, {"the board", board}};

  MadeUpRun run(size);
  Memory memory;
  std::uint64_t events = 0;
  const auto begin = steady_clock::now();
  for (std::uint64_t round = 0; round <= size.rounds; ++round) {
    memory.events.clear();
    if (round == 0) {
      board.Describe(metadata);
      run.Start(memory);
    } else {
      run.Play(memory, round);
    }
    events += memory.events.size();
    for (Timed& sink : sinks) sink.Write(memory.events);
  }
  const auto played = steady_clock::now();
  TRIBUTARY_CHECK(stored->Close().ok() && log->Close().ok());
  stored.reset();
  std::printf("%llu devices, %llu rounds, %llu events in %.1f s; closing took %.2f s\n",
              static_cast<unsigned long long>(size.devices), static_cast<unsigned long long>(size.rounds),
              static_cast<unsigned long long>(events), Seconds(played - begin),
              Seconds(steady_clock::now() - played));
  for (const Timed& sink : sinks) sink.Say(events);
  const auto opened = RunStore::Open(store).value();
  const RunRecord record = opened->Find("last").value();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "log %.1f MB, store %.2f MB, %llu rounds in it, %llu events of devices came too fast for it; at most "
      "%.0f MB of memory\n",
      1e-6 * static_cast<double>(std::filesystem::file_size(folder / "events.jsonl")),
      1e-6 * static_cast<double>(std::filesystem::file_size(store)),
      static_cast<unsigned long long>(record.rounds), static_cast<unsigned long long>(record.missed_events),
      static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

int Serve(Size size) {
  SharedBoard board;
  PrometheusSink metrics;
  TeeSink sink({&board, &metrics});
  DashboardOptions options;
  options.metrics = [&metrics] { return metrics.Text(); };
  auto server = DashboardServer::Start(board, std::move(options));
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().message().c_str());
    return 1;
  }
  MadeUpRun run(size);
  run.Start(sink);
  std::printf("dashboard at %s\n", (*server)->url().c_str());
  std::fflush(stdout);
  std::uint64_t played = 0;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t until = 0;
    double seconds = 0;
    if (!(words >> word >> until >> seconds) || word != "play" || until > size.rounds) {
      std::fprintf(stderr, "'%s' is no 'play ROUND SECONDS'\n", line.c_str());
      return 2;
    }
    const auto begin = steady_clock::now();
    const std::uint64_t first = played;
    while (played < until) {
      run.Play(sink, ++played);
      std::this_thread::sleep_until(
          begin + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(
                      seconds * static_cast<double>(played - first) / static_cast<double>(until - first))));
    }
    std::printf("at %llu\n", static_cast<unsigned long long>(played));
    std::fflush(stdout);
  }
  return 0;
}

bool Read(const char* text, std::uint64_t& value) {
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  return read.ec == std::errc() && read.ptr == end && value > 0;
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  tributary::Size size;
  const bool record = what == "record" && argc == 6, serve = what == "serve" && argc == 4;
  if (!(record || serve) || !tributary::Read(argv[argc - 2], size.devices) ||
      !tributary::Read(argv[argc - 1], size.rounds)) {
    std::fprintf(stderr,
                 "usage: run_player record FOLDER STORE DEVICES ROUNDS | run_player serve DEVICES ROUNDS\n");
    return 2;
  }
  return record ? tributary::Record(argv[2], argv[3], size) : tributary::Serve(size);
}
