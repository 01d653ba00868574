#include "tributary/cli/shared_options.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "tributary/experiment/quantity.h"
#include "tributary/experiment/vocabulary.h"

namespace tributary::inline cli {

template <typename Value>
CLI::Option* AddOption(CLI::App& command, const std::string& name, Value& value, const std::string& about) {
  const std::size_t space = name.find(' ');
  CLI::Option* option = command.add_option(name.substr(0, space), value, about);
  return space == std::string::npos ? option : option->type_name(name.substr(space + 1));
}
template CLI::Option* AddOption(CLI::App&, const std::string&, std::string&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::filesystem::path&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, int&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::int64_t&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::uint64_t&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, double&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, ImageColour&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::optional<double>&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::optional<std::int64_t>&,
                                const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::optional<std::uint64_t>&,
                                const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::vector<std::string>&, const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::vector<std::filesystem::path>&,
                                const std::string&);
template CLI::Option* AddOption(CLI::App&, const std::string&, std::vector<std::uint64_t>&,
                                const std::string&);

CLI::Option* AddVerboseFlag(CLI::App& command, bool& verbose) {
  return command.add_flag("--verbose", verbose,
                          "Log each step of connections and rounds, with date and time");
}

void AddJsonFlag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the result as JSON on standard output");
}

void AddDataDirOption(CLI::App& command, std::filesystem::path& data_dir) {
  AddOption(command, "--data-dir DIR", data_dir, "Folder with the data sets, one subfolder per data set")
      ->envname("TRIBUTARY_DATA");
}

void AddFolderOptions(CLI::App& command, DataOptions& data) {
  AddDataDirOption(command, data.data_dir);
  constexpr const char* kGroup = "Folders of pictures or recordings (docs/data.md)";
  const auto refuse = [](const std::string& flag, const std::string& why) {
    throw CLI::ValidationError(flag, why);
  };
  command
      .add_option_function<std::string>(
          "--image-size",
          [&data, refuse](const std::string& text) {
            if (const Status read = ParseImageSize(text, data.images); !read.ok()) {
              refuse("--image-size", "is '" + text + "'; " + read.message());
            }
          },
          "Scale images to this height and width; needed if sizes differ")
      ->type_name("SIDE|HxW")
      ->group(kGroup);
  std::map<std::string, ImageColour> colours;
  for (const Word<ImageColour>& word : kImageColours) colours.emplace(word.name, word.meaning);
  AddOption(command, "--colour auto|grey|colour", data.images.colour,
            "Read images in grey or colour; auto: grey if all images are")
      ->transform(CLI::CheckedTransformer(colours))
      ->group(kGroup);
  SensorSettings& sensors = data.sensors;
  const auto rows = CLI::Range(std::size_t{1}, kLongestWindow);
  AddDefaulted(command, "--window ROWS", sensors.windows.length, "Rows of a recording per sample")
      ->check(rows)
      ->group(kGroup);
  AddDefaulted(command, "--hop ROWS", sensors.windows.hop,
               "Rows from the start of a sample to that of the next")
      ->check(rows)
      ->group(kGroup);
  AddOption(command, "--columns NAME,…", sensors.columns,
            "Columns with values, in this order; by default all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kGroup);
  AddDefaulted(command, "--time-column", sensors.time_column, "Column with the time")->group(kGroup);
  AddDefaulted(command, "--label-column", sensors.label_column, "Column with the class")->group(kGroup);
  const auto add_time = [&](const std::string& flag, Duration& out, const std::string& what, double most) {
    command
        .add_option_function<std::string>(
            flag,
            [flag, &out, refuse, most](const std::string& text) {
              const auto seconds = ParseQuantity(text, Unit::kSeconds);
              if (!seconds.ok() || !(*seconds > 0 && *seconds <= most)) {
                refuse(flag, "is '" + text + "'; allowed: a time above 0, like 250ms, up to " +
                                 FormatDuration(FromSeconds(most)));
              }
              out = FromSeconds(*seconds);
            },
            what)
        ->default_str(FormatDuration(out))
        ->type_name("TIME")
        ->group(kGroup);
  };
  add_time("--longest-gap", sensors.windows.longest_gap, "Longest gap in time within a sample", 1e6);
  add_time("--time-unit", sensors.time_unit, "Unit of the time column", 3600);
}

void AddSplitOptions(CLI::App& command, SplitOptions& split) {
  std::string kinds;
  for (const std::string& kind : SplitKinds()) kinds += (kinds.empty() ? "" : ", ") + kind;
  AddDefaulted(command, "--split", split.kind, "How samples are divided: " + kinds);
  AddDefaulted(command, "--alpha", split.alpha,
               "dirichlet, extended-dirichlet: smaller is more skewed; 0.1 strongly, 100 hardly");
  AddDefaulted(command, "--classes-per-device", split.classes_per_device,
               "classes-per-device, extended-dirichlet: classes per device");
  AddDefaulted(command, "--shards-per-device", split.shards_per_device,
               "shards: runs of the label-sorted data per device");
}

void AddThreadsOption(CLI::App& command, int& threads) {
  threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  AddDefaulted(command, "--threads", threads, "Compute threads")->check(CLI::Range(1, 1024));
}

void AddTorchDeviceOption(CLI::App& command, std::string& device) {
  AddDefaulted(command, "--torch-device", device,
               "Compute device: cpu, or cuda (the first GPU; needs a torch with CUDA)");
}

void AddStemOption(CLI::App& command, std::string& stem) {
  AddDefaulted(command, "--stem", stem,
               "First layers: cifar (full resolution), imagenet (reduced early), or auto: cifar for "
               "images up to 64 pixels");
}

Status PrintJson(const nlohmann::ordered_json& value) {
  // Replaces bytes that are not UTF-8, which names in data files may contain.
  Say("{}\n", value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return OkStatus();
}

Status PrintList(bool as_json, const nlohmann::ordered_json& list, const TextTable& table) {
  if (as_json) return PrintJson(list);
  Say("{}", table.Format());
  return OkStatus();
}

}  // namespace tributary::inline cli
