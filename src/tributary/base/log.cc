#include "tributary/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace tributary::inline base {
namespace {

constexpr const char* kTimed = "%Y-%m-%d %H:%M:%S.%e %-7l %v";

spdlog::level::level_enum Of(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn};
  return kLevels[static_cast<std::size_t>(level)];
}

// Sink for lines below kWarning. It shares the mutex of all console streams, so that lines do not interleave.
class PlainSink : public spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex> {
 public:
  explicit PlainSink(std::FILE* out) : stdout_sink_base(out) {}
  void log(const spdlog::details::log_msg& message) override {
    if (message.level < spdlog::level::warn) stdout_sink_base::log(message);
  }
};

std::shared_ptr<spdlog::logger> Make(const LogOptions& options) {
  const auto plain = std::make_shared<PlainSink>(options.out);
  const auto warnings = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  plain->set_pattern(options.times ? kTimed : "%v");
  warnings->set_pattern(options.times ? kTimed : "tributary: %v");
  warnings->set_level(spdlog::level::warn);
  auto logger =
      std::make_shared<spdlog::logger>("tributary", std::initializer_list<spdlog::sink_ptr>{plain, warnings});
  logger->set_level(Of(options.least));
  return logger;
}

std::shared_ptr<spdlog::logger>& Logger() {
  static std::shared_ptr<spdlog::logger> logger = Make({.least = LogLevel::kWarning});
  return logger;
}

}  // namespace

void SetUpLog(const LogOptions& options) { Logger() = Make(options); }

bool LogShows(LogLevel level) { return Logger()->should_log(Of(level)); }

void Log(LogLevel level, std::string_view text) {
  Logger()->log(Of(level), spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace tributary::inline base
