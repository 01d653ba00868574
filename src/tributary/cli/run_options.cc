#include "tributary/cli/run_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/shared_options.h"
#include "tributary/dashboard/report.h"
#include "tributary/experiment/reader.h"

#ifdef TRIBUTARY_DASHBOARD
#include "tributary/dashboard/server.h"
#else
namespace tributary::inline dashboard {
class DashboardServer {};  // Second definition: the first is in dashboard/server.h, which is left out.
}  // namespace tributary::inline dashboard
#endif

namespace tributary::inline cli {

std::vector<std::string> WithTotals(std::vector<std::string> heading) {
  for (const DeviceTime& time : kDeviceTimes) heading.emplace_back(time.name);
  for (const DeviceBytes& bytes : kDeviceBytes) heading.emplace_back(bytes.name);
  return heading;
}

std::vector<std::string> WithTotals(std::vector<std::string> row, const DeviceFinished& sums) {
  for (const DeviceTime& time : kDeviceTimes) row.push_back(FormatDuration(time.Of(sums)));
  for (const DeviceBytes& bytes : kDeviceBytes) row.push_back(FormatBytes(sums.*bytes.part));
  return row;
}

std::vector<std::string> CommonRunOptions::Overrides() const {
  std::vector<std::string> overrides = set;
  if (seed) overrides.push_back("experiment.seed=" + std::to_string(*seed));
  return overrides;
}

void AddOverrideOptions(CLI::App& command, CommonRunOptions& options) {
  AddOption(command, "--set KEY=VALUE", options.set,
            "Change a key of the experiment, e.g. train.batch=16; repeatable")
      ->allow_extra_args(false);
  AddOption(command, "--seed", options.seed, "Short for --set experiment.seed=N");
}

void AddOutOption(CLI::App& command, CommonRunOptions& options) {
  AddOption(command, "--out DIR", options.out, "Folder for the run's files; by default runs/NAME-SEED");
}

std::filesystem::path FolderOf(const CommonRunOptions& options, const Goal& goal) {
  if (!options.out.empty()) return options.out;
  const std::string base = "runs/" + goal.name + "-" + std::to_string(goal.seed);
  std::string path = base;
  for (int i = 2; std::filesystem::exists(path); ++i) path = base + "-" + std::to_string(i);
  return path;
}

void PrintDevices(const FinishedRun& result) {
  const auto& profiles = result.profiles;
  constexpr std::size_t kMostRows = 32;
  const bool by_group = profiles.size() > kMostRows;
  // Shows the trained share of the network if devices chose it.
  const bool chose =
      std::ranges::any_of(result.devices, [](const DeviceTotals& device) { return device.chose > 0; });
  std::vector<std::string> heading =
      WithTotals({by_group ? "group" : "device", by_group ? "devices" : "group", "applied", "missed"});
  if (chose) heading.push_back("kept");
  TextTable table(heading);
  for (std::size_t i = 0; i < profiles.size();) {
    DeviceTotals sum;
    std::size_t end = i;
    do {
      sum.Add(result.devices[end++]);
    } while (by_group && end < profiles.size() && profiles[end].group == profiles[i].group);
    std::vector<std::string> row = WithTotals({by_group ? profiles[i].group : std::to_string(i),
                                               by_group ? std::to_string(end - i) : profiles[i].group,
                                               std::to_string(sum.applied), std::to_string(sum.missed)},
                                              sum);
    if (chose) {
      const double kept = 100 * sum.kept_sum / static_cast<double>(std::max<std::uint64_t>(1, sum.chose));
      row.push_back(sum.chose > 0 ? std::to_string(std::lround(kept)) + " %" : "–");
    }
    table.AddRow(row);
    i = end;
  }
  Say("\n{}", table.Format());
  std::uint64_t limited = 0, capped = 0, clipped = 0;
  for (const DeviceTotals& device : result.devices) {
    limited += device.capped + device.clipped > 0 ? 1 : 0;
    capped += device.capped;
    clipped += device.clipped;
  }
  if (limited > 0) {
    Say("{} of {} devices sent updates above the limits of [trust]: {} above trust.largest-share, "
        "{} above trust.clip; summary.json says which\n",
        limited, profiles.size(), capped, clipped);
  }
  if (const std::uint64_t refused = result.outcomes[static_cast<std::size_t>(Outcome::kRefused)]; refused > 0)
    Say("{} updates were refused; events.jsonl has the reasons\n", refused);
  if (result.rolled_back == 0) return;
  std::vector<std::uint64_t> quarantined;
  for (const DeviceId device : result.quarantined) quarantined.push_back(device.value);
  Say("the run diverged; returns to earlier weights: {}; devices in quarantine: {}\n", result.rolled_back,
      quarantined.empty() ? "none" : fmt::format("{}", fmt::join(quarantined, ", ")));
}

namespace {

constexpr char kHere[] = "127.0.0.1:0";

// --dashboard, with or without an address.
void AddDashboardOption(CLI::App& command, std::optional<std::string>& address, std::string& token_file) {
  command
      .add_option_function<std::vector<std::string>>(
          "--dashboard",
          [&address](const std::vector<std::string>& given) {
            address = given.empty() || given.front().empty() ? kHere : given.front();
          },
          "Show the run in a browser: at a free local port, or at HOST:PORT")
      ->type_name("[HOST:PORT]")
      ->expected(0, 1);
  AddOption(command, "--dashboard-token FILE", token_file,
            "File with the token that the dashboard asks for; a new token, shown on the terminal, without it")
      ->needs("--dashboard");
}

#ifdef TRIBUTARY_DASHBOARD
StatusOr<std::string> ReadToken(const std::string& file) {
  constexpr std::size_t kShortest = 16, kLongest = 128;
  TRIBUTARY_ASSIGN_OR_RETURN(std::string token, ReadPassword(file));
  const bool fits = std::ranges::all_of(token, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '-' || letter == '_';
  });
  if (fits && token.size() >= kShortest && token.size() <= kLongest) return token;
  return InvalidArgument(file +
                         " holds no token; allowed: 16 to 128 letters, digits, '-' and '_', e.g. from"
                         " 'openssl rand -hex 16'");
}
#endif

}  // namespace

StatusOr<std::unique_ptr<LivePage>> LivePage::Start(const std::optional<std::string>& address,
                                                    const std::string& token_file,
                                                    std::optional<DashboardTls> tls,
                                                    std::function<std::string()> metrics, std::FILE* out) {
  std::unique_ptr<LivePage> page(new LivePage());
  if (!address) return page;
#ifdef TRIBUTARY_DASHBOARD
  DashboardOptions wanted;
  wanted.address = *address;
  wanted.metrics = std::move(metrics);
  wanted.tls = std::move(tls);
  wanted.token = MakeToken();
  if (!token_file.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(wanted.token, ReadToken(token_file));
  }
  wanted.states = [page = page.get()] { return page->States(); };
  TRIBUTARY_ASSIGN_OR_RETURN(page->server_, DashboardServer::Start(page->board_, std::move(wanted)));
  const std::string& url = page->server_->url();
  if (::isatty(::fileno(out)) == 1) {
    Say(out, "dashboard at {}\n", url);
  } else {
    Say(out, "dashboard at {}\nits token is {}; open the address with ?token=TOKEN\n",
        url.substr(0, url.find('?')),
        token_file.empty() ? "shown on a terminal only: elsewhere, choose one with --dashboard-token FILE"
                           : "in " + token_file);
  }
  std::fflush(out);
  return page;
#else
  (void)token_file;
  (void)metrics;
  (void)tls;
  (void)out;
  return InvalidArgument(
      "this program was built without the dashboard; install libcpp-httplib-dev and configure with "
      "-DTRIBUTARY_DASHBOARD=ON");
#endif
}

LivePage::~LivePage() = default;

void LivePage::SetStates(std::function<std::vector<std::string>()> states) {
  const MutexLock lock(mutex_);
  states_ = std::move(states);
}

std::vector<std::string> LivePage::States() {
  const MutexLock lock(mutex_);  // Locked during the call: keeps the fleet alive.
  return states_ ? states_() : std::vector<std::string>{};
}

void LivePage::Report(const std::filesystem::path& folder, std::FILE* out) const {
  if (DashboardPage().empty()) return;
  const std::filesystem::path path = folder / "report.html";
  const Status written = WriteReport(path, board_.Take());
  if (written.ok()) {
    Say(out, "report {}\n", path.c_str());
  } else {
    Say(out, "no report: {}\n", written.message());
  }
}

namespace {

constexpr const char* kUsualStore = "runs/runs.sqlite";

// Simulated devices are numbered group by group.
std::vector<std::string> GroupsOf(const FleetChoice& fleet) {
  std::vector<std::string> groups;
  for (const Group& group : fleet.groups)
    groups.insert(groups.end(), static_cast<std::size_t>(group.count), group.name);
  return groups;
}

void Warn(const char* what, const Status& status) {
  if (!status.ok()) Say(stderr, "tributary: {}: {}\n", what, status.message());
}

}  // namespace

// Opens the store at the first event, so that a run that cannot start is not recorded.
class Watchers::LateStore : public EventSink {
 public:
  explicit LateStore(StoreSinkOptions options) : options_(std::move(options)) {}

  Status Open() {
    auto store = StoreSink::Create(options_);
    if (!store.ok()) return std::move(store).status();
    store_ = std::move(*store);
    return OkStatus();
  }
  void Write(const Event& event) override {
    if (!tried_ && !store_) {
      tried_ = true;
      Warn("this run will not be recorded", Open());
    }
    if (store_) store_->Write(event);
  }
  Status Close(std::vector<std::string> groups) {
    if (!store_) return OkStatus();
    store_->NameGroups(std::move(groups));
    return store_->Close();
  }

 private:
  const StoreSinkOptions options_;
  bool tried_ = false;
  std::unique_ptr<StoreSink> store_;
};

Watchers::Watchers(const WatchOptions& options)
    : out_(options.json ? stderr : stdout),
      clock_(MakeRealClock()),
      view_(*clock_, out_, {.style = options.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(out_)}) {}
Watchers::~Watchers() = default;

CLI::Option* AddStoreOption(CLI::App& command, std::string& store) {
  return command
      .add_option("--store", store, "File with recorded runs; by default " + std::string(kUsualStore))
      ->envname("TRIBUTARY_STORE")
      ->type_name("FILE");
}

std::filesystem::path StorePath(const std::string& named) { return named.empty() ? kUsualStore : named; }

void AddTensorBoardOption(CLI::App& command, std::string& folder) {
  AddOption(command, "--tensorboard DIR", folder,
            "Write TensorBoard event files to a subfolder with the run's name");
}

std::filesystem::path FreeTensorBoardFolder(const std::filesystem::path& folder, const std::string& name) {
  std::filesystem::path path = folder / name;
  for (int i = 2; std::filesystem::exists(path); ++i) path = folder / (name + "-" + std::to_string(i));
  return path;
}

void AddWatchOptions(CLI::App& command, WatchOptions& options) {
  CLI::Option* const store = AddStoreOption(command, options.store);
  command.add_flag("--no-store", options.no_store, "Do not record the run for 'tributary runs'")
      ->excludes(store);
  AddTensorBoardOption(command, options.tensorboard);
  AddOption(command, "--metrics-file FILE.prom", options.metrics_file,
            "Write the run's metrics to this file, in Prometheus text format");
  AddDashboardOption(command, options.dashboard, options.dashboard_token);
  AddJsonFlag(command, options.json);
  command.add_flag("--quiet", options.quiet, "Print the result only");
}

StatusOr<std::unique_ptr<Watchers>> Watchers::Open(const WatchOptions& options, const Experiment& experiment,
                                                   const std::filesystem::path& folder, bool simulated,
                                                   bool resumed) {
  std::unique_ptr<Watchers> watchers(new Watchers(options));
  std::error_code error;
  const std::string name =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error).filename().string();
  const std::string text = FormatExperiment(experiment);
  std::vector<EventSink*> sinks = {&watchers->view_};
  if (!options.tensorboard.empty()) {
    const std::filesystem::path place = resumed ? std::filesystem::path(options.tensorboard) / name
                                                : FreeTensorBoardFolder(options.tensorboard, name);
    TRIBUTARY_ASSIGN_OR_RETURN(
        watchers->tensorboard_,
        TensorBoardSink::Create(place, {.experiment = text, .virtual_time = simulated}));
    sinks.push_back(watchers->tensorboard_.get());
  }
  if (!options.metrics_file.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(watchers->metrics_, MetricsFile::Create(options.metrics_file));
    sinks.push_back(watchers->metrics_.get());
  }
  TRIBUTARY_ASSIGN_OR_RETURN(watchers->page_,
                             LivePage::Start(
                                 options.dashboard, options.dashboard_token, options.dashboard_tls,
                                 [served = &watchers->served_] { return served->Text(); }, watchers->out_));
  sinks.push_back(&watchers->page_->sink());
  if (options.dashboard) sinks.push_back(&watchers->served_);
  if (!options.no_store && (StoreSink::Available() || !options.store.empty())) {
    watchers->store_ = std::make_unique<LateStore>(
        StoreSinkOptions{.store = StorePath(options.store),
                         .name = name,
                         .folder = folder,
                         .experiment = text,
                         .groups = simulated ? GroupsOf(experiment.fleet) : std::vector<std::string>(),
                         .simulated = simulated,
                         .resumed = resumed});
    if (!options.store.empty()) TRIBUTARY_RETURN_IF_ERROR(watchers->store_->Open());
    sinks.push_back(watchers->store_.get());
  }
  watchers->sink_ = std::make_unique<TeeSink>(std::move(sinks));
  return watchers;
}

void Watchers::Close(const FinishedRun& result) {
  if (store_) {
    std::vector<std::string> groups;
    for (const DeviceProfile& profile : result.profiles) groups.push_back(profile.group);
    Warn("the run was not recorded to its end", store_->Close(std::move(groups)));
  }
  if (tensorboard_) Warn("the files for TensorBoard are not complete", tensorboard_->Close());
  if (metrics_) Warn("the metrics are not up to date", metrics_->Close());
}

}  // namespace tributary::inline cli
