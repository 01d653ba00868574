#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/dashboard/dashboard_tls.h"
#include "tributary/dashboard/shared_board.h"

namespace tributary::inline dashboard {

struct DashboardOptions {
  std::string address = "127.0.0.1:0";  // HOST:PORT; port 0: any free port
  // Clients must send it, as ?token= or as "Authorization: Bearer"; empty: no token.
  std::string token;
  std::optional<DashboardTls> tls;       // else plain HTTP
  std::function<std::string()> metrics;  // content of /metrics; null: none
  // What devices do now; called at most twice a second while a page is open.
  std::function<std::vector<std::string>()> states;
};

// Serves a board to browsers (the page, the board and its changes) and metrics to Prometheus, on its own
// threads. Requests are bounded in size, time and number, and no client can delay the run.
//
// At a loopback address, a request's Host must be a loopback name or address, or the host of `address`. This
// prevents DNS rebinding: a foreign page whose name resolves to this machine gets nothing.
//
// With TLS, a client with a certificate that `may_watch` accepts needs no token; others do.
class DashboardServer {
 public:
  static constexpr int kMostPages = 16;  // that follow concurrently

  // `board` must outlive it. Fails if the address is not available, or needs a token and there is none.
  static StatusOr<std::unique_ptr<DashboardServer>> Start(SharedBoard& board, DashboardOptions options);
  // Sends the final state to followers and ends all responses, within seconds.
  ~DashboardServer();

  // E.g. http://127.0.0.1:8080/, or https with TLS, with the token if there is one.
  const std::string& url() const;

 private:
  struct Parts;
  explicit DashboardServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// 128 random bits in hexadecimal, from the system.
std::string MakeToken();

}  // namespace tributary::inline dashboard
