#include "tributary/telemetry/metrics_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "tributary/base/file.h"

namespace tributary::inline telemetry {

StatusOr<std::unique_ptr<MetricsFile>> MetricsFile::Create(std::filesystem::path path) {
  std::unique_ptr<MetricsFile> file(new MetricsFile(std::move(path)));
  TRIBUTARY_RETURN_IF_ERROR(file->WriteText());
  file->thread_ = std::thread([raw = file.get()] { raw->Work(); });
  return file;
}

MetricsFile::~MetricsFile() { (void)Close(); }

void MetricsFile::Write(const Event& event) {
  metrics_.Write(event);
  const MutexLock lock(mutex_);
  changed_ = true;
}

Status MetricsFile::WriteText() const {
  // Collectors read only files that end in .prom, so they leave this one alone.
  std::filesystem::path temporary = path_;
  temporary += "." + std::to_string(::getpid()) + ".new";
  const std::string text = metrics_.Text();
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) return SystemError("cannot write", path_, errno);
  errno = 0;
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = errno;
  if (std::fclose(file) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && std::rename(temporary.c_str(), path_.c_str()) != 0) {
    written = false;
    error = errno;
  }
  if (written) return OkStatus();
  ::unlink(temporary.c_str());
  return SystemError("cannot write", path_, error != 0 ? error : EIO);
}

void MetricsFile::Work() {
  MutexLock lock(mutex_);
  bool last = false;
  while (!last) {
    const WaitDeadline second = DeadlineIn(std::chrono::seconds(1));
    while (!stop_ && stop_or_second_.WaitUntil(lock, second)) {
    }
    last = stop_;  // Nothing changes after it.
    if (!std::exchange(changed_, false) || !status_.ok()) continue;
    lock.Unlock();
    Status status = WriteText();
    lock.Lock();
    status_ = std::move(status);
  }
}

Status MetricsFile::Close() {
  if (thread_.joinable()) {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
    }
    stop_or_second_.NotifyOne();
    thread_.join();
  }
  const MutexLock lock(mutex_);
  return status_;
}

}  // namespace tributary::inline telemetry
