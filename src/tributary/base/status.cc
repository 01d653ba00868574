#include "tributary/base/status.h"

namespace tributary::inline base {

Status Status::WithContext(std::string_view context) && {
  if (ok()) return Status();
  return Status(code_, std::string(context) + ": " + message_);
}

Status InvalidArgument(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }
Status NotFound(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
Status Corrupt(std::string message) { return {StatusCode::kCorrupt, std::move(message)}; }
Status ResourceExhausted(std::string message) { return {StatusCode::kResourceExhausted, std::move(message)}; }
Status Unavailable(std::string message) { return {StatusCode::kUnavailable, std::move(message)}; }
Status Cancelled(std::string message) { return {StatusCode::kCancelled, std::move(message)}; }
Status IoError(std::string message) { return {StatusCode::kIoError, std::move(message)}; }

std::string_view StatusCodeName(StatusCode code) {
  constexpr std::string_view kNames[] = {"ok",        "invalid argument",   "not found",
                                         "corrupt",   "resource exhausted", "unavailable",
                                         "cancelled", "input/output error"};
  return kNames[static_cast<std::size_t>(code)];
}

std::ostream& operator<<(std::ostream& out, const Status& status) {
  out << StatusCodeName(status.code());
  if (!status.ok()) out << ": " << status.message();
  return out;
}

}  // namespace tributary::inline base
