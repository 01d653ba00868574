#include "tributary/cli/live_page.h"

#include "tributary/dashboard/page.h"
#include "tributary/dashboard/report.h"
#ifdef TRIBUTARY_DASHBOARD
#include "tributary/dashboard/server.h"
#endif

namespace tributary {
namespace {

constexpr char kHere[] = "127.0.0.1:0";

}  // namespace

#ifndef TRIBUTARY_DASHBOARD
class DashboardServer {};
#endif

void AddDashboardOption(CLI::App& command, std::optional<std::string>& address) {
  command
      .add_option_function<std::vector<std::string>>(
          "--dashboard",
          [&address](const std::vector<std::string>& given) {
            address = given.empty() || given.front().empty() ? kHere : given.front();
          },
          "Show the run in a browser while it lasts: here at a free port, or at HOST:PORT, with a token "
          "where others can reach it")
      ->type_name("[HOST:PORT]")
      ->expected(0, 1);
}

StatusOr<std::unique_ptr<LivePage>> LivePage::Start(const std::optional<std::string>& address,
                                                    std::function<std::string()> metrics, std::FILE* out) {
  std::unique_ptr<LivePage> page(new LivePage());
  if (!address) return page;
#ifdef TRIBUTARY_DASHBOARD
  DashboardOptions wanted;
  wanted.address = *address;
  wanted.metrics = std::move(metrics);
  if (!OnlyHere(wanted.address)) wanted.token = MakeToken();
  wanted.states = [page = page.get()] { return page->States(); };
  TRIBUTARY_ASSIGN_OR_RETURN(page->server_, DashboardServer::Start(page->board_, std::move(wanted)));
  std::fprintf(out, "dashboard at %s\n", page->server_->url().c_str());
  std::fflush(out);
  return page;
#else
  (void)metrics;
  (void)out;
  return InvalidArgument(
      "this program was built without the dashboard; install libcpp-httplib-dev and configure with"
      " -DTRIBUTARY_DASHBOARD=ON");
#endif
}

LivePage::~LivePage() = default;

void LivePage::SetStates(std::function<std::vector<std::string>()> states) {
  const std::lock_guard lock(mutex_);
  states_ = std::move(states);
}

std::vector<std::string> LivePage::States() {
  const std::lock_guard lock(mutex_);  // Held while it looks: the fleet stays until then.
  return states_ ? states_() : std::vector<std::string>{};
}

void LivePage::Report(const std::filesystem::path& folder, std::FILE* out) const {
  if (DashboardPage().empty()) return;
  const std::filesystem::path path = folder / "report.html";
  const Status written = WriteReport(path, board_.Take());
  if (written.ok()) {
    std::fprintf(out, "report %s\n", path.c_str());
  } else {
    std::fprintf(out, "no report: %s\n", written.message().c_str());
  }
}

}  // namespace tributary
