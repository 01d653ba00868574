#pragma once

#include <array>
#include <cstdint>

#include "tributary/base/file_stamp.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline keys {

// Credentials that follow the files of their bundle, so that a certificate can be renewed and an authority replaced
// without a restart. Thread-safe.
class LiveCredentials {
 public:
  // Credentials without a folder never change.
  explicit LiveCredentials(Credentials credentials) : credentials_(std::move(credentials)) {}

  // Reads the bundle again if a file has changed, at the cost of three stats otherwise. Files that cannot be used, such
  // as a certificate whose key has not been copied yet, are an error for the log; the credentials stay, and the next
  // call tries again.
  Status Refresh();

  Credentials Get() const;
  // Increases with every change.
  std::uint64_t version() const;

 private:
  mutable Mutex mutex_;
  Credentials credentials_ TRIBUTARY_GUARDED_BY(mutex_);
  std::array<FileStamp, 3> stamps_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t version_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

}  // namespace tributary::inline keys
