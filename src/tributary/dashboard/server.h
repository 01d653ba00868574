#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tributary/base/status.h"
#include "tributary/dashboard/shared_board.h"

namespace tributary::inline dashboard {

struct DashboardOptions {
  std::string address = "127.0.0.1:0";  // HOST:PORT; port 0 takes a free one
  // Clients must send it, as ?token= or as "Authorization: Bearer"; empty for no token.
  std::string token;
  std::function<std::string()> metrics;  // for /metrics; none without it
  std::function<std::vector<std::string>()>
      states;  // what devices do now; asked twice a second while somebody looks
};

// Shows a board to browsers: the page, the board and its changes as they come, and what Prometheus reads. All work is done on
// threads of its own. Requests are bounded in size, time and number; one that is not served is refused, and the run
// goes on whatever a browser does.
//
// At loopback, only requests for this machine by name or address, or for the host of `address`, are answered: a page from
// elsewhere whose name is made to lead here (DNS rebinding) gets nothing.
class DashboardServer {
 public:
  static constexpr int kMostPages = 16;  // that follow at the same time

  // `board` must outlive it. Fails where the address cannot be had, and where it can be reached from elsewhere and there
  // is no token.
  static StatusOr<std::unique_ptr<DashboardServer>> Start(SharedBoard& board, DashboardOptions options);
  // Tells those who follow how it ended, and ends what is being sent; within seconds.
  ~DashboardServer();

  // For a person: http://127.0.0.1:8080/, with the token if there is one.
  const std::string& url() const;

 private:
  struct Parts;
  explicit DashboardServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// 128 bits of chance in hexadecimal, from the system.
std::string MakeToken();

}  // namespace tributary::inline dashboard
