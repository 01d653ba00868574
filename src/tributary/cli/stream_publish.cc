#include "tributary/cli/stream_publish.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/arrivals.h"
#include "tributary/data/record.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/programme_text.h"
#include "tributary/experiment/quantity.h"
#include "tributary/policy/partitioning/label_splits.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr int kMostAtOnce = 256;        // per device, before other devices' turn
constexpr Duration kLongestNap = 50ms;  // delay until Ctrl-C is noticed
constexpr Duration kBlockedNap = 5ms;

struct Feed {
  std::string topic;
  std::optional<SamplesPerSecond> rate;  // empty for recordings
  Arrivals arrivals;
  std::vector<std::uint32_t> part;
  std::optional<ReplayOrder> order;  // empty without samples
  std::int64_t total = 0;
  std::int64_t sent = 0;
  TimePoint last{0};  // when the last sample was sent
};

// Plans each device's stream, before data are read.
StatusOr<std::vector<Feed>> PlanFeeds(const PublishArguments& arguments, BrokerKind kind) {
  RateSteps steps;
  if (!arguments.programme.empty()) {
    auto parsed = ParseRateSteps(arguments.programme);
    if (!parsed.ok()) return std::move(parsed).status().WithContext("--programme");
    steps = std::move(*parsed);
  }
  std::vector<Feed> feeds;
  for (const std::string& text : arguments.rates) {
    auto rate = ParseQuantity(text, Unit::kSamplesPerSecond);
    if (!rate.ok()) return std::move(rate).status().WithContext("--rates");
    TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme,
                               RateProgramme::Make({*rate}, steps.steps, steps.after));
    feeds.push_back({.topic = arguments.topic_prefix + std::to_string(feeds.size()),
                     .rate = SamplesPerSecond{*rate},
                     .arrivals = std::move(programme)});
    TRIBUTARY_RETURN_IF_ERROR(CheckTopic(kind, feeds.back().topic));
  }
  return feeds;
}

Status DealSamples(const PublishArguments& arguments, const Dataset& dataset, std::vector<Feed>& feeds) {
  SplitOptions split = arguments.split;
  split.devices = static_cast<int>(feeds.size());
  TRIBUTARY_ASSIGN_OR_RETURN(Partition partition,
                             MakeSplit(split, dataset.labels(), dataset.classes(), dataset.sources()));
  for (std::size_t device = 0; device < feeds.size(); ++device) {
    Feed& feed = feeds[device];
    feed.part = std::move(partition[device]);
    if (feed.part.empty()) continue;
    feed.order.emplace(feed.part.size(), split.seed, DeviceId{device});
    feed.total = arguments.samples > 0 ? arguments.samples : static_cast<std::int64_t>(feed.part.size());
    if (feed.arrivals.TimeOf(feed.total)) continue;
    return InvalidArgument(
        fmt::format("at a rate of {} samples/s{}{} device {} never sends its {} samples; reduce --samples",
                    arguments.rates[device], arguments.programme.empty() ? "" : " under --programme ",
                    arguments.programme, device, FormatThousands(feed.total)));
  }
  return OkStatus();
}

// One feed per source of recordings.
StatusOr<std::vector<Feed>> PlanRecorded(const PublishArguments& arguments, BrokerKind kind,
                                         const Dataset& dataset) {
  const Origins* const origins = dataset.origins();
  if (origins == nullptr) {
    return InvalidArgument("--recorded needs recording times, which " + dataset.name() +
                           " does not have; give --rates instead, or recordings with --data "
                           "(har, or a folder of .csv files for each person)");
  }
  std::vector<Feed> feeds;
  for (const std::vector<std::uint32_t>& part : SplitBySource(dataset.sources(), origins->names.size())) {
    std::vector<std::uint32_t> ordered(part.size());
    std::vector<Duration> times;
    for (const std::uint32_t place : RecordedOrder(*origins, part)) {
      ordered[times.size()] = part[place];
      times.push_back(origins->recorded[part[place]]);
    }
    Feed feed{.topic = arguments.topic_prefix + std::to_string(feeds.size()),
              .rate = {},
              .arrivals = RecordedTimes(std::move(times), arguments.recorded_speed),
              .part = std::move(ordered),
              .order = {}};
    std::vector<std::uint32_t> in_turn(feed.part.size());
    std::iota(in_turn.begin(), in_turn.end(), 0U);
    feed.order.emplace(std::move(in_turn));
    feed.total = arguments.samples > 0 ? arguments.samples : static_cast<std::int64_t>(feed.part.size());
    TRIBUTARY_RETURN_IF_ERROR(CheckTopic(kind, feed.topic));
    feeds.push_back(std::move(feed));
  }
  return feeds;
}

class Publication {
 public:
  Publication(const PublishArguments& arguments, const Dataset& dataset, Publisher& publisher,
              std::vector<Feed>& feeds)
      : dataset_(dataset),
        publisher_(publisher),
        feeds_(feeds),
        epoch_(std::chrono::system_clock::now().time_since_epoch()),
        // Larger than the numbers of earlier runs, up to a million samples per second.
        run_(arguments.first_sequence.value_or(
            std::chrono::duration_cast<std::chrono::microseconds>(epoch_).count())),
        progress_(*clock_, stderr,
                  {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(stderr),
                   .total = Sum(feeds, &Feed::total),
                   .unit = "samples"}) {}

  // Sends until everything is sent or the user interrupts, then waits for the broker's confirmation.
  Status Run() {
    while (!interrupt_.interrupted()) {
      TRIBUTARY_ASSIGN_OR_RETURN(const Duration nap, SendWhatIsDue());
      Tell();
      if (std::ranges::all_of(feeds_, [](const Feed& feed) { return feed.sent == feed.total; })) break;
      std::this_thread::sleep_for(nap);
    }
    interrupted_ = interrupt_.interrupted();
    const TimePoint patience = clock_->Now() + 5s;
    while (true) {
      TRIBUTARY_ASSIGN_OR_RETURN(const bool all, publisher_.Flush(200ms));
      Tell();
      if (all) break;
      if (!interrupt_.interrupted() || clock_->Now() < patience) continue;
      return Unavailable("interrupted; the broker has confirmed " + FormatThousands(publisher_.confirmed()) +
                         " of " + FormatThousands(static_cast<std::int64_t>(Sent())) + " samples");
    }
    if (!interrupted_) progress_.Finish(Sent(), "");
    return OkStatus();
  }

  bool interrupted() const { return interrupted_; }
  std::int64_t run() const { return run_; }

 private:
  static std::uint64_t Sum(const std::vector<Feed>& feeds, std::int64_t Feed::*number) {
    std::int64_t sum = 0;
    for (const Feed& feed : feeds) sum += feed.*number;
    return static_cast<std::uint64_t>(sum);
  }
  std::uint64_t Sent() const { return Sum(feeds_, &Feed::sent); }

  void Tell() {
    if (const auto news = publisher_.TakeNews()) {
      progress_.Clear();
      Say(stderr, "{}\n", *news);
    }
    progress_.Update(Sent(), std::to_string(feeds_.size()) + (feeds_.size() == 1 ? " topic" : " topics"));
  }

  // Returns the time until the next sample is due.
  StatusOr<Duration> SendWhatIsDue() {
    const TimePoint now = clock_->Now();
    Duration nap = kLongestNap;
    for (Feed& feed : feeds_) {
      const std::int64_t due = std::min(feed.arrivals.Arrived(now), feed.total);
      for (int turn = 0; turn < kMostAtOnce && feed.sent < due; ++turn) {
        TRIBUTARY_ASSIGN_OR_RETURN(const bool taken, publisher_.Publish(feed.topic, NextRecord(feed, now)));
        if (!taken) return kBlockedNap;
        ++feed.sent;
        feed.last = now;
      }
      if (feed.sent == feed.total) continue;
      const auto next = feed.arrivals.TimeOf(feed.sent + 1);
      if (next) nap = std::min(nap, std::max(*next - now, Duration(0)));
    }
    return nap;
  }

  std::vector<std::byte> NextRecord(Feed& feed, TimePoint now) {
    const std::uint32_t index = feed.part[feed.order->At(feed.sent)];
    const auto held = dataset_.Held(index);
    return EncodeRecord({.sample = {.position = run_ + feed.sent,
                                    .label = dataset_.label(index),
                                    .element = FormatOf(dataset_).element,
                                    .produced = epoch_ + now,
                                    .payload = std::vector<std::byte>(held.begin(), held.end())},
                         .run = run_});
  }

  const InterruptGuard interrupt_;
  const std::unique_ptr<Clock> clock_ = MakeRealClock();
  const Dataset& dataset_;
  Publisher& publisher_;
  std::vector<Feed>& feeds_;
  const std::chrono::nanoseconds epoch_;
  const std::int64_t run_;
  Progress progress_;
  bool interrupted_ = false;
};

std::string PerSecond(double rate) { return fmt::format("{:.1f}/s", rate); }

Status Print(const PublishArguments& arguments, const Dataset& dataset, const std::vector<Feed>& feeds,
             const Publication& publication) {
  TextTable table({"topic", "samples", "asked for", "reached"});
  Json list = Json::array();
  for (const Feed& feed : feeds) {
    const double seconds = ToSeconds(feed.last);
    const double reached = seconds > 0 ? static_cast<double>(feed.sent) / seconds : 0;
    table.AddRow({feed.topic, FormatThousands(feed.sent),
                  feed.rate ? PerSecond(feed.rate->value) : "as recorded", PerSecond(reached)});
    list.push_back({{"topic", feed.topic}, {"samples", feed.sent}, {"rate", nullptr}, {"reached", reached}});
    if (feed.rate) list.back()["rate"] = feed.rate->value;
  }
  if (arguments.json) {
    return PrintJson({{"to", arguments.to},
                      {"data", dataset.name()},
                      {"shape", FormatShape(dataset.shape())},
                      {"element", dataset.holds_bytes() ? "byte" : "float"},
                      {"classes", dataset.classes()},
                      {"first_sequence", publication.run()},
                      {"interrupted", publication.interrupted()},
                      {"topics", list}});
  }
  std::fputs(table.Format().c_str(), stdout);
  if (publication.interrupted()) std::puts("interrupted; the broker has everything sent so far");
  return OkStatus();
}

}  // namespace

StatusOr<BrokerSettings> ParseBrokerSettings(const std::vector<std::string>& texts) {
  BrokerSettings settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgument("--broker-setting '" + text + "' is not of the form NAME=VALUE");
    }
    std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    if (IsSecretSetting(name)) {
      if (!value.starts_with('@')) {
        return InvalidArgument(fmt::format(
            "--broker-setting {0}=…: every user of this machine can read a secret on the command line; write "
            "it into a file with mode 0600 and give {0}=@FILE",
            name));
      }
      TRIBUTARY_ASSIGN_OR_RETURN(value, ReadPassword(value.substr(1)));
    }
    settings.emplace_back(std::move(name), std::move(value));
  }
  return settings;
}

Status PublishStreams(const PublishArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const BrokerAddress address, ParseBrokerAddress(arguments.to));
  TRIBUTARY_ASSIGN_OR_RETURN(const BrokerSettings settings, ParseBrokerSettings(arguments.settings));
  const bool recorded = arguments.recorded_speed > 0;
  if (arguments.rates.empty() != recorded) {
    return InvalidArgument("give either --rates, or --recorded for recordings");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<Feed> feeds, PlanFeeds(arguments, address.kind));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto publisher, OpenPublisher(address, settings));
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(arguments.data));
  if (recorded) {
    TRIBUTARY_ASSIGN_OR_RETURN(feeds, PlanRecorded(arguments, address.kind, data.train));
  } else {
    TRIBUTARY_RETURN_IF_ERROR(DealSamples(arguments, data.train, feeds));
  }
  std::vector<std::string> topics;
  for (const Feed& feed : feeds) topics.push_back(feed.topic);
  TRIBUTARY_RETURN_IF_ERROR(publisher->Prepare(topics));
  Publication publication(arguments, data.train, *publisher, feeds);
  TRIBUTARY_RETURN_IF_ERROR(publication.Run());
  return Print(arguments, data.train, feeds, publication);
}

}  // namespace tributary::inline cli
