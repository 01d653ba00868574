#pragma once

#include <string_view>

namespace tributary::inline base {

// Whether a host is a loopback name or a loopback address (without brackets). A name that only begins like an
// address ("127.0.0.1.example.org") is not.
inline bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace tributary::inline base
