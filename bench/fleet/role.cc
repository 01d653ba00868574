#include "role.h"

#include <cstdio>
#include <fstream>
#include <iostream>

#include "tributary/base/check.h"
#include "tributary/model/zoo.h"

namespace tributary::bench {

std::string DeviceName(std::size_t number) { return "load-" + std::to_string(number); }

StatusOr<Credentials> DeviceKeys(const Role& role, std::size_t number) {
  return LoadCredentials(role.keys / "devices" / DeviceName(number));
}

std::shared_ptr<const Model> BuildModel(std::int64_t parameters) {
  if (parameters == 0)
    return std::make_shared<const Model>(BuildZooGraph({.name = Zoo().front().name}).value());
  constexpr std::int64_t kSide = 1000;
  TRIBUTARY_CHECK(parameters % (kSide * kSide) == 0);
  GraphBuilder builder("square-layers", Shape{1, 1, kSide});
  NodeIndex x = builder.Add("flatten", Flatten{}, {0});
  for (std::int64_t i = 0; i < parameters / (kSide * kSide); ++i) {
    x = builder.Add("fc" + std::to_string(i), Linear{.out_features = kSide, .bias = false}, {x});
  }
  return std::make_shared<const Model>(std::move(builder).Build().value());
}

bool AwaitGo() {
  std::string line;
  return std::getline(std::cin, line) && line == "go";
}

void SayRound(double seconds, std::size_t devices) {
  std::printf("round %.6f %zu\n", seconds, devices);
  std::fflush(stdout);
}

void SayMemory(std::int64_t before) {
  std::printf("memory %lld %lld\n", static_cast<long long>(before),
              static_cast<long long>(ProcessBytes("VmHWM:")));
  std::fflush(stdout);
}

std::int64_t ProcessBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    std::int64_t kilobytes = 0;
    if (name == field && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

}  // namespace tributary::bench
