#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "tributary/base/check.h"

namespace tributary::inline base {

// Why an operation failed. The code determines whether to retry, the program's exit code, and whether the
// caller's input or the environment is at fault.
enum class StatusCode {
  kOk,
  kInvalidArgument,    // An invalid flag, key or shape.
  kNotFound,           // A name or a file does not exist.
  kCorrupt,            // Malformed or damaged bytes.
  kResourceExhausted,  // A full disk, a size over its limit.
  kUnavailable,        // May succeed later.
  kCancelled,          // Stopped on request.
  kIoError,            // An error of the operating system.
};

// The outcome of an operation that can fail for reasons outside the program. Messages are whole sentences for
// a person: what was found, where, what is allowed, what to do.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
    TRIBUTARY_CHECK(code != StatusCode::kOk);
  }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with "`context`: " before its message: which file, which node, which device.
  Status WithContext(std::string_view context) &&;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }
Status InvalidArgument(std::string message);
Status NotFound(std::string message);
Status Corrupt(std::string message);
Status ResourceExhausted(std::string message);
Status Unavailable(std::string message);
Status Cancelled(std::string message);
Status IoError(std::string message);

std::string_view StatusCodeName(StatusCode code);
std::ostream& operator<<(std::ostream& out, const Status& status);

// A value, or the Status that explains its absence. Accessing the value of a failed StatusOr aborts.
template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(T value) : value_(std::move(value)) {}  // NOLINT: implicit on purpose
  StatusOr(Status status) : status_(std::move(status)) {
    TRIBUTARY_CHECK(!status_.ok());
  }  // NOLINT: likewise

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  // As Status::WithContext; a value stays as it is.
  StatusOr WithContext(std::string_view context) && {
    if (!ok()) status_ = std::move(status_).WithContext(context);
    return std::move(*this);
  }

  T& value() & { return Checked(*this); }
  const T& value() const& { return Checked(*this); }
  T&& value() && { return std::move(Checked(*this)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  template <typename Self>
  static auto& Checked(Self& self) {
    TRIBUTARY_CHECK(self.value_.has_value());
    return *self.value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace tributary::inline base

#define TRIBUTARY_CONCAT_INNER(a, b) a##b
#define TRIBUTARY_CONCAT(a, b) TRIBUTARY_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression` is a failed Status.
#define TRIBUTARY_RETURN_IF_ERROR(expression)                                      \
  do {                                                                             \
    if (::tributary::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// TRIBUTARY_ASSIGN_OR_RETURN(auto graph, BuildModel(name)): declares the value, or returns the failed Status.
#define TRIBUTARY_ASSIGN_OR_RETURN(declaration, expression) \
  TRIBUTARY_ASSIGN_OR_RETURN_INNER(TRIBUTARY_CONCAT(status_or_, __LINE__), declaration, expression)
#define TRIBUTARY_ASSIGN_OR_RETURN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                                             \
  if (!temporary.ok()) return std::move(temporary).status();                 \
  declaration = std::move(temporary).value()
