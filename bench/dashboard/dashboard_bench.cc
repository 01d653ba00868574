// The cost of showing a run: the same 'tributary run', alternately without and with --dashboard and one
// viewer (a thread of this program that reads the event stream and discards it). Each run is a process.
// Prints medians and ratios of elapsed time and of processor time, including the threads that serve pages;
// and the processor time of these threads alone, which a busy machine affects least. All runs must have the
// same digest.
//
//   build/release/bench/dashboard PROGRAM [pairs] [what]    what: default, many, or both

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tributary/base/check.h"

namespace tributary {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> arguments;
};

struct Cost {
  double seconds = 0, processors = 0;
  double pages = 0;        // processor time of threads that serve pages, as last seen
  std::uint64_t read = 0;  // bytes of the event stream
  std::string digest;
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

// Reads the event stream until it ends.
std::uint64_t FollowRun(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  std::uint64_t bytes = 0;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request =
        std::string("GET /api/events?token=") + kToken + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    (void)::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    std::vector<char> buffer(1 << 16);
    for (ssize_t count = 0; (count = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
      bytes += static_cast<std::uint64_t>(count);
  }
  ::close(socket);
  return bytes;
}

// Processor time of a process's threads that serve pages.
double PagesTime(pid_t process) {
  double seconds = 0;
  std::error_code error;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
    std::string name;
    double nanoseconds = 0;
    std::ifstream(thread.path() / "comm") >> name;
    std::ifstream(thread.path() / "schedstat") >> nanoseconds;
    if (name == "dashboard") seconds += 1e-9 * nanoseconds;
  }
  return seconds;
}

Cost Run(const std::string& program, std::vector<std::string> arguments, const std::filesystem::path& folder,
         bool shown) {
  arguments.insert(arguments.end(), {"--quiet", "--out", (folder / "run").string(), "--store",
                                     (folder / "runs.sqlite").string()});
  if (shown) arguments.insert(arguments.end(), {"--dashboard", "--dashboard-token", folder / "token"});
  std::vector<char*> words = {const_cast<char*>(program.c_str()), const_cast<char*>("run")};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  int out[2];
  TRIBUTARY_CHECK(::pipe2(out, O_CLOEXEC) == 0);
  const double begin = Now();
  const pid_t process = ::fork();
  TRIBUTARY_CHECK(process >= 0);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(out[1], STDOUT_FILENO);
    ::execv(program.c_str(), words.data());
    std::_Exit(127);
  }
  ::close(out[1]);
  std::FILE* const lines = ::fdopen(out[0], "r");
  Cost cost;
  std::atomic<bool> over = false;
  std::thread watcher([&] {
    for (; !over; std::this_thread::sleep_for(std::chrono::milliseconds(50)))
      cost.pages = std::max(cost.pages, PagesTime(process));
  });
  std::thread follower;
  char line[1000];
  while (std::fgets(line, sizeof line, lines) != nullptr) {
    char word[100];
    int port = 0;
    if (std::sscanf(line, "dashboard at http://127.0.0.1:%d", &port) == 1)
      follower = std::thread([&cost, port] { cost.read = FollowRun(port); });
    if (std::sscanf(line, "digest %99s", word) == 1) cost.digest = word;
  }
  std::fclose(lines);
  over = true;
  watcher.join();
  int status = 0;
  rusage usage{};
  ::wait4(process, &status, 0, &usage);
  cost.seconds = Now() - begin;
  if (follower.joinable()) follower.join();
  if (status != 0 || cost.digest.empty()) {
    std::fprintf(stderr, "%s run failed\n", program.c_str());
    std::exit(1);
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  cost.processors = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  std::filesystem::remove_all(folder / "run");
  return cost;
}

template <typename Get>
double Median(const std::vector<Cost>& costs, Get get) {
  std::vector<double> values;
  for (const Cost& cost : costs) values.push_back(get(cost));
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void Measure(const std::string& program, const Case& measured, const std::filesystem::path& folder,
             int pairs) {
  std::vector<Cost> without, with;
  for (int i = 0; i < pairs; ++i) {
    // The order alternates between pairs.
    const bool first = i % 2 == 1;
    for (const bool shown : {first, !first})
      (shown ? with : without).push_back(Run(program, measured.arguments, folder, shown));
  }
  for (const Cost& cost : with) TRIBUTARY_CHECK(cost.digest == without[0].digest && cost.read > 0);
  const auto time = [](const Cost& cost) { return cost.seconds; };
  const auto processors = [](const Cost& cost) { return cost.processors; };
  const auto pages = [](const Cost& cost) { return cost.pages; };
  std::printf(
      "%s, %d pairs: time %.2f s without, %.2f s with, ratio %.4f; processors' time %.2f s without, %.2f s "
      "with, ratio %.4f;"
      " %.1f MB told; digests equal; threads for pages %.3f s, %.2f %% of the processors' time without\n",
      measured.name, pairs, Median(without, time), Median(with, time),
      Median(with, time) / Median(without, time), Median(without, processors), Median(with, processors),
      Median(with, processors) / Median(without, processors), 1e-6 * static_cast<double>(with.back().read),
      Median(with, pages), 100 * Median(with, pages) / Median(without, processors));
  for (const auto& [name, costs] : {std::pair("without", &without), std::pair("with", &with)}) {
    std::printf("  %-8s", name);
    for (const Cost& cost : *costs) std::printf("  %.2f (%.2f)", cost.seconds, cost.processors);
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: dashboard PROGRAM [pairs] [default|many]\n");
    return 2;
  }
  const std::string program = argv[1], what = argc > 3 ? argv[3] : "both";
  const int pairs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  std::string name = (std::filesystem::temp_directory_path() / "dashboard_bench.XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  std::ofstream(folder / "token") << tributary::kToken << "\n";
  std::filesystem::permissions(folder / "token", std::filesystem::perms(0600));
  const auto set = [](std::initializer_list<const char*> keys) {
    std::vector<std::string> arguments = {"smoke"};
    for (const char* key : keys) arguments.insert(arguments.end(), {"--set", key});
    return arguments;
  };
  // A typical run; and a thousand devices in many short rounds with as little training as possible.
  const tributary::Case cases[] = {
      {"fedavg", {"fedavg", "--set", "experiment.rounds=4"}},
      {"many", set({"model.name=lenet5", "data.train-limit=4000", "fleet.group.slow.count=500",
                    "fleet.group.fast.count=500", "fleet.participation=10", "train.batch=4",
                    "train.local-steps=1", "experiment.evaluate-every=10", "experiment.rounds=600"})}};
  for (const tributary::Case& measured : cases) {
    if (what == "both" || what == measured.name) tributary::Measure(program, measured, folder, pairs);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
