#include "tributary/download/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "tributary/base/file.h"

namespace tributary::inline download {
namespace {

namespace fs = std::filesystem;

constexpr long kConnectSeconds = 30;
constexpr long kSlowSeconds = 60;  // Less than a kilobyte a second for so long, and it has failed.
constexpr long kSlowBytes = 1000;

const char* NameOf(Checksum::Kind kind) { return kind == Checksum::Kind::kMd5 ? "MD5" : "SHA-256"; }

// A transfer under way, as libcurl calls back.
struct Transfer {
  const DownloadOptions* options = nullptr;
  CURL* curl = nullptr;
  int file = -1;
  std::int64_t from = 0;     // where it goes on
  std::int64_t written = 0;  // in the file
  bool begun = false;        // The first byte of an answer that counts has come.
  Status problem;
};

// What is of the file itself. An answer without a part of it begins anew.
bool Begin(Transfer& transfer) {
  if (transfer.begun) return true;
  transfer.begun = true;
  long code = 0;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &code);
  if (transfer.from == 0 || code == 206) return true;
  if (::ftruncate(transfer.file, 0) != 0 || ::lseek(transfer.file, 0, SEEK_SET) != 0) {
    transfer.problem = SystemError("cannot begin anew", transfer.options->file.string() + ".part", errno);
    return false;
  }
  transfer.written = 0;
  transfer.from = 0;
  return true;
}

std::size_t OnBytes(char* bytes, std::size_t, std::size_t count, void* data) {
  Transfer& transfer = *static_cast<Transfer*>(data);
  if (!Begin(transfer)) return 0;
  if (transfer.written + static_cast<std::int64_t>(count) > transfer.options->most.value) {
    transfer.problem = ResourceExhausted(transfer.options->url + " is larger than " +
                                         FormatBytes(transfer.options->most) + ", the most that is taken");
    return 0;
  }
  for (std::size_t done = 0; done < count;) {
    const ::ssize_t wrote = ::write(transfer.file, bytes + done, count - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      transfer.problem = SystemError("cannot write", transfer.options->file.string() + ".part", errno);
      return 0;
    }
    done += static_cast<std::size_t>(wrote);
  }
  transfer.written += static_cast<std::int64_t>(count);
  return count;
}

int OnProgress(void* data, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
  Transfer& transfer = *static_cast<Transfer*>(data);
  if (!transfer.options->progress) return 0;
  const std::int64_t all = total > 0 ? transfer.from + total : 0;
  if (transfer.options->progress(Bytes{transfer.written}, Bytes{all})) return 0;
  transfer.problem = Cancelled("stopped; what has come is kept, and the next time goes on from there");
  return 1;
}

// libcurl is made ready once, before any thread uses it.
bool CurlReady() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

StatusOr<bool> HasSum(const fs::path& file, const Checksum& wanted) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Checksum found, ChecksumOfFile(file, wanted.kind));
  return found == wanted;
}

Status Failed(const Transfer& transfer, CURLcode code) {
  if (!transfer.problem.ok()) return transfer.problem;
  const std::string& url = transfer.options->url;
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    long answer = 0;
    curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &answer);
    const std::string text = url + " is answered with HTTP status " + std::to_string(answer);
    return answer == 404 || answer == 410 ? NotFound(text) : Unavailable(text);
  }
  if (code == CURLE_TOO_MANY_REDIRECTS) {
    return Unavailable(url + " redirects more than " + std::to_string(transfer.options->redirects) +
                       " times");
  }
  if (code == CURLE_FILESIZE_EXCEEDED) {
    return ResourceExhausted(url + " is larger than " + FormatBytes(transfer.options->most) +
                             ", the most that is taken");
  }
  if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT) {
    return InvalidArgument(
        url +
        " is not got; allowed: addresses that begin with http:// or https://, also where it redirects to");
  }
  return Unavailable("cannot get " + url + ": " + curl_easy_strerror(code) +
                     "; what has come is kept, and the next time goes on from there");
}

// Gets what is missing. Nothing is missing where the server has no such range.
Status Fetch(const DownloadOptions& options, int file, std::int64_t from) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(CurlReady() ? curl_easy_init() : nullptr,
                                                                   curl_easy_cleanup);
  if (!handle) return ResourceExhausted("libcurl could not be started");
  CURL* const curl = handle.get();
  Transfer transfer{&options, curl, file, from, from, false, OkStatus()};
  curl_easy_setopt(curl, CURLOPT_URL, options.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                   options.url.starts_with("https:") ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, static_cast<long>(options.redirects));
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kSlowBytes);
  curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options.most.value));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "tributary");
  const std::string range = std::to_string(from) + "-";
  if (from > 0) curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OK)
    return ::fsync(file) == 0 ? OkStatus() : SystemError("cannot write", options.file, errno);
  long answer = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
  constexpr long kNoSuchRange = 416;
  return from > 0 && answer == kNoSuchRange ? OkStatus() : Failed(transfer, code);
}

// What has come so far, kept from others while it is in hand.
class PartFile {
 public:
  explicit PartFile(fs::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}
  ~PartFile() {
    if (file_ >= 0) ::close(file_);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  Status Lock() const {
    if (file_ < 0) return SystemError("cannot write", path_, errno);
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return OkStatus();
    return Unavailable("somebody else is getting " + path_.string() + " now");
  }
  StatusOr<std::int64_t> Size() const {
    const ::off_t size = ::lseek(file_, 0, SEEK_END);
    if (size < 0) return SystemError("cannot read", path_, errno);
    return std::int64_t{size};
  }
  Status Empty() const {
    return ::ftruncate(file_, 0) == 0 ? OkStatus() : SystemError("cannot begin anew", path_, errno);
  }
  Status GoOn(const DownloadOptions& options) const {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t from, Size());
    return Fetch(options, file_, from);
  }

 private:
  const fs::path path_;
  const int file_;
};

}  // namespace

Status Download(const DownloadOptions& options) {
  const fs::path folder = options.file.has_parent_path() ? options.file.parent_path() : fs::path(".");
  const fs::path part = options.file.string() + ".part";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return SystemError("cannot make", folder, error.value());
  const PartFile file(part);
  TRIBUTARY_RETURN_IF_ERROR(file.Lock());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t there, file.Size());
  if (fs::exists(options.file, error)) {
    if (there == 0) fs::remove(part, error);
    TRIBUTARY_ASSIGN_OR_RETURN(const bool right, HasSum(options.file, options.checksum));
    if (right) return OkStatus();
    return Corrupt(options.file.string() + " is there, and its " + NameOf(options.checksum.kind) +
                   " is not " + options.checksum.hex + "; take it away to get it again");
  }
  TRIBUTARY_RETURN_IF_ERROR(file.GoOn(options));
  TRIBUTARY_ASSIGN_OR_RETURN(bool right, HasSum(part, options.checksum));
  if (!right &&
      there > 0) {  // What was there may have been of something else: once more, from the beginning.
    TRIBUTARY_RETURN_IF_ERROR(file.Empty());
    TRIBUTARY_RETURN_IF_ERROR(file.GoOn(options));
    TRIBUTARY_ASSIGN_OR_RETURN(right, HasSum(part, options.checksum));
  }
  if (!right) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Checksum found, ChecksumOfFile(part, options.checksum.kind));
    fs::remove(part, error);
    return Corrupt("what came from " + options.url + " has the " + NameOf(options.checksum.kind) + " " +
                   found.hex + ", and " + options.checksum.hex + " was published; nothing of it is kept");
  }
  fs::rename(part, options.file, error);
  if (error) return SystemError("cannot name", options.file, error.value());
  return SyncFolder(folder);
}

}  // namespace tributary::inline download
