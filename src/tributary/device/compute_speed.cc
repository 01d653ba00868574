#include "tributary/device/compute_speed.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "tributary/base/parse_number.h"

namespace tributary::inline device {
namespace {

// One or two numbers at the start of a kernel file; "max" counts as none.
struct Numbers {
  std::optional<double> first, second;
};

std::optional<double> TakeNumber(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  double number = 0;
  return ParseExactly(word, number) ? std::optional(number) : std::nullopt;
}

Numbers ReadNumbers(int descriptor) {
  std::array<char, 64> bytes;
  const ssize_t count = pread(descriptor, bytes.data(), bytes.size(), 0);
  if (count <= 0) return {};
  std::string_view text(bytes.data(), static_cast<std::size_t>(count));
  Numbers numbers;
  numbers.first = TakeNumber(text);
  numbers.second = TakeNumber(text);
  return numbers;
}

bool Contains(std::string_view list, std::string_view name) {
  return ("," + std::string(list) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

}  // namespace

ProcessorMeter::ProcessorMeter(const std::filesystem::path& groups, const std::filesystem::path& membership) {
  std::ifstream lines(membership);
  // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !Contains(controllers, "cpu")) continue;
    const std::filesystem::path root = controllers.empty() ? groups : groups / controllers;
    std::filesystem::path path = std::filesystem::path(line.substr(second + 1)).relative_path();
    // Limits of enclosing groups apply too.
    while (true) {
      Look(root / path);
      if (!controllers.empty() && controllers != "cpu") Look(groups / "cpu" / path);
      if (path.empty()) break;
      path = path.parent_path();
    }
  }
}

ProcessorMeter::~ProcessorMeter() {
  for (const Limit& limit : limits_) {
    close(limit.quota);
    if (limit.period >= 0) close(limit.period);
  }
}

void ProcessorMeter::Look(const std::filesystem::path& folder) {
  const auto descriptor = [&](const char* name) {
    return open((folder / name).c_str(), O_RDONLY | O_CLOEXEC);
  };
  Limit limit{descriptor("cpu.max"), -1};
  if (limit.quota < 0) {
    limit = {descriptor("cpu.cfs_quota_us"), descriptor("cpu.cfs_period_us")};
    if ((limit.quota < 0) != (limit.period < 0)) close(std::max(limit.quota, limit.period));
    if (limit.quota < 0 || limit.period < 0) return;
  }
  limits_.push_back(limit);
}

double ProcessorMeter::Used() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::optional<double> ProcessorMeter::Allowed() const {
  std::optional<double> least;
  for (const Limit& limit : limits_) {
    Numbers numbers = ReadNumbers(limit.quota);
    if (!numbers.first || *numbers.first <= 0) continue;  // "max", or −1
    if (limit.period >= 0) numbers.second = ReadNumbers(limit.period).first;
    if (!numbers.second || *numbers.second <= 0) continue;
    least = std::min(least.value_or(1e9), *numbers.first / *numbers.second);
  }
  return least;
}

StatusOr<ComputeSpeed> MeasureCompute(Worker& worker, const DeviceTraining& training,
                                      const SharedWeights& weights, const LocalData& data,
                                      const RoundSamples* samples, std::size_t batch, const Clock& clock) {
  constexpr Duration kLongEnough = std::chrono::milliseconds(200);
  constexpr int kMost = 20;
  TrainAssignment assignment;
  assignment.batch = batch;
  DeviceRound round{.training = training,
                    .assignment = assignment,
                    .device = DeviceId{0},
                    .data = data,
                    .samples = samples,
                    .hooks = {.clock = &clock}};
  if (training.cut) {  // The reply takes no time here; its values do not matter.
    round.cut = [&training](int crossing, std::size_t count, ByteSpan) -> StatusOr<EncodedSplitReply> {
      const SplitWire::Form down = training.cut->wire.Down(crossing);
      EncodedSplitReply back;
      TRIBUTARY_RETURN_IF_ERROR(AppendSplitValues(
          down.precision, std::vector<float>(count * down.values, 1e-3F), down.values, back.values));
      return back;
    };
  }
  ComputeSpeed speed;
  double trained_samples = 0;
  int steps = 0;
  TimePoint begun{0};
  double used = 0;
  for (int i = 0; i <= kMost; ++i) {
    if (i == 1) {  // The first step is a warm-up.
      begun = clock.Now();
      used = ProcessorMeter::Used();
    }
    TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained, round.Train(worker, weights));
    if (i == 0) continue;
    trained_samples += trained.update.weight;
    ++steps;
    speed.layers = trained.times.layers;
    if (clock.Now() - begun > kLongEnough) break;
  }
  const double macs = 3 * static_cast<double>(TotalMacs(training.model->costs).value) * trained_samples;
  const double seconds = std::max(1e-9, ToSeconds(clock.Now() - begun));
  const double processing = std::max(1e-9, ProcessorMeter::Used() - used);
  speed.macs_per_second = macs / seconds;
  speed.processor_seconds = processing / steps;
  speed.processors = processing / seconds;
  return speed;
}

}  // namespace tributary::inline device
