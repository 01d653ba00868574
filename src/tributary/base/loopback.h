#pragma once

#include <string_view>

namespace tributary::inline base {

// Whether a host, by name or by address without brackets, is this machine's loopback. A name that only begins like an
// address ("127.0.0.1.example.org") is not.
inline bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace tributary::inline base
