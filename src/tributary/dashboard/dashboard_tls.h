#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "tributary/base/status.h"

namespace tributary::inline dashboard {

// The dashboard over TLS, with the server's certificate and the authority that signs clients' certificates, as PEM files.
// They are read once, at the start.
struct DashboardTls {
  std::filesystem::path certificate, key, authority;
  // Whether a client with this certificate (PEM), which the authority has signed, may see the run without a token.
  // Called on the server's threads.
  std::function<Status(const std::string& certificate_pem)> may_watch;
};

}  // namespace tributary::inline dashboard
