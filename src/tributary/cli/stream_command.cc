#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/cli/stream_inspect.h"
#include "tributary/cli/stream_publish.h"

namespace tributary {
namespace {

void AddBrokerSettings(CLI::App& command, std::vector<std::string>& settings) {
  command
      .add_option(
          "--broker-setting", settings,
          "For the broker's library, as often as needed: Kafka's own names (security.protocol=ssl); for MQTT "
          "username, password, cafile")
      ->type_name("NAME=VALUE");
}

void AddPublish(CLI::App& stream, Action& action) {
  auto arguments = std::make_shared<PublishArguments>();
  CLI::App* command =
      stream.add_subcommand("publish", "Feed a data set into a broker at given rates, one topic per device");
  command->add_option("--to", arguments->to, "The broker: kafka://HOST:PORT or mqtt://HOST:PORT")
      ->required()
      ->type_name("BROKER");
  command
      ->add_option("--rates", arguments->rates,
                   "Samples per second of each device, with commas: as many devices as rates")
      ->delimiter(',')
      ->type_name("RATE,…");
  command
      ->add_option(
          "--recorded", arguments->recorded_speed,
          "Instead of rates, for recordings (har): a topic for each source, whose samples are sent when they "
          "were recorded, so many times faster")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes("--rates")
      ->type_name("SPEED");
  command
      ->add_option("--topic-prefix", arguments->topic_prefix,
                   "Topics are this and the number of the device, from 0")
      ->capture_default_str();
  command
      ->add_option("--data", arguments->data.name,
                   "Data set, or a folder with X.npy and y.npy, with pictures or with recordings")
      ->capture_default_str();
  AddDataDirOption(*command, arguments->data.data_dir);
  AddFolderOptions(*command, arguments->data);
  AddSplitOptions(*command, arguments->split);
  command
      ->add_option("--programme", arguments->programme,
                   "How all rates change: hold:F:T, stop:T, drift:F:G:T, sine:A:PERIOD:T, "
                   "burst:F:ON:PERIOD:T with commas "
                   "between, 'repeat' at the end")
      ->excludes("--recorded")
      ->type_name("STEP,…");
  command
      ->add_option(
          "--samples", arguments->samples,
          "Samples for each device, going round its part as often as needed; its part once when not given")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}));
  command
      ->add_option(
          "--first-sequence", arguments->first_sequence,
          "Number of the first sample, above all that the topics have had; made from the time when not given")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 60));
  command->add_option("--seed", arguments->split.seed, "Same seed, same split and order")
      ->capture_default_str();
  AddBrokerSettings(*command, arguments->settings);
  AddJsonFlag(*command, arguments->json);
  command->add_flag("--quiet", arguments->quiet, "No progress");
  command->footer(
      "Examples:\n"
      "  tributary stream publish --to kafka://localhost:9092 --rates 12,40,64,120\n"
      "  tributary stream publish --to kafka://localhost:9092 --data har --recorded 20\n"
      "  tributary stream publish --to mqtt://pi.local --rates 30,30 --split shards --samples 5000 \\\n"
      "    --programme hold:1:1min,burst:4:2s:10s:1min,stop:20s,repeat");
  command->callback([arguments, &action] { action = [arguments] { return PublishStreams(*arguments); }; });
}

void AddInspect(CLI::App& stream, Action& action) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = stream.add_subcommand("inspect", "Show what lies in a topic, or what comes by");
  command->add_option("--from", arguments->from, "The broker: kafka://HOST:PORT or mqtt://HOST:PORT")
      ->required()
      ->type_name("BROKER");
  command->add_option("--topic", arguments->topic, "The topic")->required();
  command->add_option("--position", arguments->position, "Kafka: begin at this offset")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 60))
      ->capture_default_str();
  command->add_option("--for", arguments->listen, "MQTT, which keeps nothing: listen for so long")
      ->type_name("TIME")
      ->capture_default_str();
  AddBrokerSettings(*command, arguments->settings);
  AddJsonFlag(*command, arguments->json);
  command->footer("Example:\n  tributary stream inspect --from kafka://localhost:9092 --topic tributary-0");
  command->callback([arguments, &action] { action = [arguments] { return InspectStream(*arguments); }; });
}

}  // namespace

void AddStreamCommand(CLI::App& app, Action& action) {
  CLI::App* stream = app.add_subcommand("stream", "Feed data into a broker as streams, and look at them");
  stream->require_subcommand(1);
  stream->footer(
      "Examples:\n"
      "  tributary stream publish --to kafka://localhost:9092 --rates 12,40\n"
      "  tributary stream inspect --from kafka://localhost:9092 --topic tributary-0");
  AddPublish(*stream, action);
  AddInspect(*stream, action);
}

}  // namespace tributary
