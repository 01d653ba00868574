#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/shared_options.h"
#include "tributary/cli/stream_publish.h"
#include "tributary/data/broker.h"
#include "tributary/experiment/quantity.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace stream_command {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

struct InspectArguments {
  std::string from;
  std::vector<std::string> settings;  // NAME=VALUE
  std::string topic;
  std::int64_t position = 0;
  std::string listen = "5s";
  bool json = false;
};

constexpr Duration kPatience = 10s;        // wait for a broker's reply
constexpr std::size_t kMostLabels = 1000;  // limits memory, since labels come from outside

struct Findings {
  StreamCounts counts;
  std::optional<TopicRange> range;
  std::int64_t first = -1, last = -1;  // positions of samples
  std::chrono::nanoseconds produced_first{0}, produced_last{0};
  std::map<std::int32_t, std::int64_t> labels;
  std::int64_t other_labels = 0;
  std::map<std::pair<SampleElement, std::size_t>, std::int64_t> kinds;  // by element and bytes

  void Add(const StreamSample& sample) {
    if (first < 0) first = sample.position, produced_first = sample.produced;
    last = sample.position;
    produced_last = sample.produced;
    if (labels.size() < kMostLabels || labels.contains(sample.label)) {
      ++labels[sample.label];
    } else {
      ++other_labels;
    }
    if (kinds.size() < kMostLabels) ++kinds[{sample.element, sample.payload.size()}];
  }
  std::optional<double> PerSecond() const {
    const double seconds = ToSeconds(produced_last - produced_first);
    if (counts.delivered < 2 || !(seconds > 0)) return std::nullopt;
    return static_cast<double>(counts.delivered - 1) / seconds;
  }
};

std::string NameOf(SampleElement element) { return element == SampleElement::kByte ? "byte" : "float"; }

Status Print(const InspectArguments& arguments, const Findings& found) {
  Json labels = Json::object(), kinds = Json::array();
  TextTable table({"label", "samples"});
  for (const auto& [label, count] : found.labels) {
    labels[std::to_string(label)] = count;
    table.AddRow({std::to_string(label), FormatThousands(count)});
  }
  if (found.other_labels > 0) table.AddRow({"others", FormatThousands(found.other_labels)});
  std::string what;
  for (const auto& [kind, count] : found.kinds) {
    kinds.push_back({{"element", NameOf(kind.first)}, {"bytes", kind.second}, {"samples", count}});
    const std::int64_t values = static_cast<std::int64_t>(kind.second) / SizeOf(kind.first);
    what += (what.empty() ? "" : ", ") + FormatThousands(count) + " of " + FormatThousands(values) + " " +
            NameOf(kind.first) + "s";
  }
  if (arguments.json) {
    Json result = {{"topic", arguments.topic},
                   {"samples", found.counts.delivered},
                   {"undecodable", found.counts.undecodable},
                   {"duplicates", found.counts.duplicates},
                   {"missing", found.counts.missing},
                   {"first", found.first},
                   {"last", found.last},
                   {"labels", labels},
                   {"kinds", kinds}};
    if (found.range) result["kept"] = {{"first", found.range->first}, {"end", found.range->end}};
    if (const auto rate = found.PerSecond()) result["per_second"] = *rate;
    return PrintJson(result);
  }
  Say("{}: {} samples, {} undecodable\n", arguments.topic, FormatThousands(found.counts.delivered),
      FormatThousands(found.counts.undecodable));
  if (found.range) {
    Say("the broker keeps offsets {} to {}\n", found.range->first, found.range->end - 1);
  }
  if (found.first < 0) return OkStatus();
  Say("positions {} to {}, {} missing, {} twice\n{}\n", found.first, found.last,
      FormatThousands(found.counts.missing), FormatThousands(found.counts.duplicates), what);
  if (const auto rate = found.PerSecond()) Say("produced at {:.1f} samples/s\n", *rate);
  Say("\n{}", table.Format());
  return OkStatus();
}

Status InspectStream(const InspectArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const BrokerAddress address, ParseBrokerAddress(arguments.from));
  TRIBUTARY_ASSIGN_OR_RETURN(const BrokerSettings settings, ParseBrokerSettings(arguments.settings));
  auto listen = ParseDuration(arguments.listen);
  if (!listen.ok()) return std::move(listen).status().WithContext("--for");
  const BrokerStreamOptions options = {.address = address, .topic = arguments.topic, .settings = settings};
  Findings found;
  TRIBUTARY_ASSIGN_OR_RETURN(found.range, QueryTopic(options, kPatience));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto stream, OpenBrokerStream(options));
  const std::int64_t first = std::max(arguments.position, found.range ? found.range->first : 0);
  if (found.range) TRIBUTARY_RETURN_IF_ERROR(stream->Seek(first));

  const InterruptGuard interrupt;
  const auto clock = MakeRealClock();
  Progress progress(
      *clock, stderr,
      {.style = ProgressStyleFor(stderr),
       .total =
           found.range ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, found.range->end - first)) : 0,
       .unit = "records"});
  std::vector<StreamSample> samples;
  TimePoint last_news = clock->Now();
  std::int64_t seen = 0;
  while (!interrupt.interrupted()) {
    const TimePoint now = clock->Now();
    if (found.range ? seen >= found.range->end - first : now >= *listen) break;
    samples.clear();
    stream->Poll(now, {.wait = 100ms}, samples);
    for (const StreamSample& sample : samples) found.Add(sample);
    found.counts = stream->counts();
    const std::int64_t before = std::exchange(seen, found.counts.delivered + found.counts.undecodable +
                                                        found.counts.missing + found.counts.duplicates);
    if (seen > before) last_news = now;
    progress.Update(static_cast<std::uint64_t>(seen), arguments.topic);
    const bool silent = stream->state().phase != StreamPhase::kConnected || found.range;
    if (silent && now - last_news > kPatience)
      return Unavailable(arguments.topic + ": " + stream->state().reason);
  }
  progress.Clear();
  return Print(arguments, found);
}

void AddBrokerSettings(CLI::App& command, std::vector<std::string>& settings) {
  AddOption(command, "--broker-setting NAME=VALUE", settings,
            "Setting of the broker's library, repeatable: Kafka's names (security.protocol=ssl); for MQTT "
            "username, password, cafile, certfile, keyfile, insecure. A password is a file: password=@FILE");
}

void AddPublish(CLI::App& stream, Action& action) {
  auto [command, a] = AddCommand(stream, action, PublishStreams, "publish",
                                 "Publish a data set to a broker at given rates, one topic per device");
  AddOption(command, "--to BROKER", a.to, "The broker: kafka://HOST:PORT or mqtt://HOST:PORT")->required();
  AddOption(command, "--rates RATE,…", a.rates, "Samples per second, one rate per device")->delimiter(',');
  AddOption(command, "--recorded SPEED", a.recorded_speed,
            "Instead of --rates, for recordings (har): one topic per source; samples are sent at the times "
            "of the recording, sped up by this factor")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes("--rates");
  AddDefaulted(command, "--topic-prefix", a.topic_prefix,
               "Prefix of topics, followed by the device number from 0");
  AddDefaulted(command, "--data", a.data.name,
               "Data set, or a folder with X.npy and y.npy, with pictures or with recordings");
  AddFolderOptions(command, a.data);
  AddSplitOptions(command, a.split);
  AddOption(command, "--programme STEP,…", a.programme,
            "How all rates change: hold:F:T, stop:T, drift:F:G:T, sine:A:PERIOD:T, burst:F:ON:PERIOD:T with "
            "commas between, 'repeat' at the end")
      ->excludes("--recorded");
  AddOption(command, "--samples", a.samples,
            "Samples per device, repeating its data if needed; by default all its data once")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}));
  AddOption(command, "--first-sequence", a.first_sequence,
            "Number of the first sample, above all earlier ones of the topics; by default from the time")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 60));
  AddDefaulted(command, "--seed", a.split.seed, "Same seed, same split and order");
  AddBrokerSettings(command, a.settings);
  AddJsonFlag(command, a.json);
  command.add_flag("--quiet", a.quiet, "No progress");
  command.footer(
      "Examples:\n"
      "  tributary stream publish --to kafka://localhost:9092 --rates 12,40,64,120\n"
      "  tributary stream publish --to kafka://localhost:9092 --data har --recorded 20\n"
      "  tributary stream publish --to mqtt://localhost --rates 30,30 --split shards --samples 5000 \\\n"
      "    --programme hold:1:1min,burst:4:2s:10s:1min,stop:20s,repeat");
}

void AddInspect(CLI::App& stream, Action& action) {
  auto [command, a] = AddCommand(stream, action, InspectStream, "inspect", "Show the samples of a topic");
  AddOption(command, "--from BROKER", a.from, "The broker: kafka://HOST:PORT or mqtt://HOST:PORT")
      ->required();
  AddOption(command, "--topic", a.topic, "The topic")->required();
  AddDefaulted(command, "--position", a.position, "Kafka: start at this offset")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 60));
  AddDefaulted(command, "--for TIME", a.listen, "MQTT, which stores nothing: how long to listen");
  AddBrokerSettings(command, a.settings);
  AddJsonFlag(command, a.json);
  command.footer("Example:\n  tributary stream inspect --from kafka://localhost:9092 --topic tributary-0");
}

}  // namespace stream_command

void AddStreamCommand(CLI::App& app, Action& action) {
  using namespace stream_command;
  CLI::App* stream = app.add_subcommand("stream", "Publish data to a broker as streams, and inspect topics");
  stream->require_subcommand(1);
  stream->footer(
      "Examples:\n"
      "  tributary stream publish --to kafka://localhost:9092 --rates 12,40\n"
      "  tributary stream inspect --from kafka://localhost:9092 --topic tributary-0");
  AddPublish(*stream, action);
  AddInspect(*stream, action);
}

}  // namespace tributary::inline cli
