#include "tributary/cli/shared_options.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

namespace tributary {

void AddJsonFlag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the result as JSON on standard output");
}

void AddDataDirOption(CLI::App& command, std::filesystem::path& data_dir) {
  command.add_option("--data-dir", data_dir, "Folder with the data sets, each in a folder of its own name")
      ->envname("TRIBUTARY_DATA")
      ->type_name("DIR");
}

void AddSplitOptions(CLI::App& command, SplitOptions& split) {
  std::string kinds;
  for (const std::string& kind : SplitKinds()) kinds += (kinds.empty() ? "" : ", ") + kind;
  command.add_option("--split", split.kind, "How samples are divided: " + kinds)->capture_default_str();
  command
      .add_option("--alpha", split.alpha,
                  "dirichlet, extended-dirichlet: smaller is more skewed; 0.1 strongly, 100 hardly")
      ->capture_default_str();
  command
      .add_option("--classes-per-device", split.classes_per_device,
                  "classes-per-device, extended-dirichlet: classes that each device sees")
      ->capture_default_str();
  command
      .add_option("--shards-per-device", split.shards_per_device,
                  "shards: runs of the label-sorted data that each device is dealt")
      ->capture_default_str();
}

void AddThreadsOption(CLI::App& command, int& threads) {
  threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  command.add_option("--threads", threads, "Threads to compute with")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

void AddTorchDeviceOption(CLI::App& command, std::string& device) {
  command.add_option("--torch-device", device, "What computes: cpu, or cuda (the first GPU, with a torch that has CUDA)")
      ->capture_default_str();
}

void AddStemOption(CLI::App& command, std::string& stem) {
  command
      .add_option("--stem", stem,
                  "Form of the network: cifar (full resolution), imagenet (reduced early), or auto: cifar for images "
                  "up to 64 pixels")
      ->capture_default_str();
}

void PrintJson(const nlohmann::ordered_json& value) {
  // Names in data files may hold bytes that are not UTF-8: show them as replacement characters rather than fail.
  const std::string text = value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

}  // namespace tributary
