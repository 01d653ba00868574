#include "tributary/download/download.h"

#include <archive.h>
#include <archive_entry.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "tributary/base/file.h"

namespace tributary::inline download {
namespace {

namespace fs = std::filesystem;

constexpr long kConnectSeconds = 30;
constexpr long kSlowSeconds = 60;  // A transfer below kSlowBytes per second for this long has failed.
constexpr long kSlowBytes = 1000;

const char* NameOf(Checksum::Kind kind) { return kind == Checksum::Kind::kMd5 ? "MD5" : "SHA-256"; }

// State of a transfer in libcurl's callbacks.
struct Transfer {
  const DownloadOptions* options = nullptr;
  CURL* curl = nullptr;
  int file = -1;
  std::int64_t from = 0;     // offset at which the download resumes
  std::int64_t written = 0;  // in the file
  bool begun = false;        // The first byte of a successful response has arrived.
  Status problem;
};

long AnswerOf(CURL* curl) {
  long code = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
  return code;
}

Status TooLarge(const DownloadOptions& options) {
  return ResourceExhausted(
      fmt::format("{} is larger than {}, the limit", options.url, FormatBytes(options.most)));
}

// Prepares the file for the first byte. A response other than 206 Partial Content starts from offset 0.
bool Begin(Transfer& transfer) {
  if (transfer.begun) return true;
  transfer.begun = true;
  if (transfer.from == 0 || AnswerOf(transfer.curl) == 206) return true;
  if (::ftruncate(transfer.file, 0) != 0 || ::lseek(transfer.file, 0, SEEK_SET) != 0) {
    transfer.problem = SystemError("cannot restart", transfer.options->file.string() + ".part", errno);
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
    transfer.problem = TooLarge(*transfer.options);
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
  transfer.problem = Cancelled("stopped; the partial file is kept, and the next download resumes it");
  return 1;
}

// libcurl must be initialised once, before any thread uses it.
bool CurlReady() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

Status Failed(const Transfer& transfer, CURLcode code) {
  if (!transfer.problem.ok()) return transfer.problem;
  const std::string& url = transfer.options->url;
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    const long answer = AnswerOf(transfer.curl);
    const std::string text = fmt::format("{} answered with HTTP status {}", url, answer);
    return answer == 404 || answer == 410 ? NotFound(text) : Unavailable(text);
  }
  if (code == CURLE_TOO_MANY_REDIRECTS)
    return Unavailable(fmt::format("{} redirects more than {} times", url, transfer.options->redirects));
  if (code == CURLE_FILESIZE_EXCEEDED) return TooLarge(*transfer.options);
  if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT) {
    return InvalidArgument(
        url +
        " cannot be downloaded; allowed: addresses that begin with http:// or https://, also of redirects");
  }
  return Unavailable("cannot get " + url + ": " + curl_easy_strerror(code) +
                     "; the partial file is kept, and the next download resumes it");
}

// Downloads the missing range. If the server has no such range, nothing is missing.
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
  constexpr long kNoSuchRange = 416;
  return from > 0 && AnswerOf(curl) == kNoSuchRange ? OkStatus() : Failed(transfer, code);
}

// The partial file, locked against other downloads.
class PartFile {
 public:
  explicit PartFile(fs::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}

  Status Lock() const {
    if (file_.get() < 0) return SystemError("cannot write", path_, errno);
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return OkStatus();
    return Unavailable("another download of " + path_.string() + " is running");
  }
  StatusOr<std::int64_t> Size() const {
    const ::off_t size = ::lseek(file_.get(), 0, SEEK_END);
    if (size < 0) return SystemError("cannot read", path_, errno);
    return std::int64_t{size};
  }
  Status Empty() const {
    return ::ftruncate(file_.get(), 0) == 0 ? OkStatus() : SystemError("cannot restart", path_, errno);
  }
  Status GoOn(const DownloadOptions& options) const {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t from, Size());
    return Fetch(options, file_.get(), from);
  }

 private:
  const fs::path path_;
  const Descriptor file_;
};

}  // namespace

Status Download(const DownloadOptions& options) {
  const fs::path folder = FolderOfFile(options.file);
  const fs::path part = options.file.string() + ".part";
  const Checksum& published = options.checksum;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return SystemError("cannot make", folder, error.value());
  const PartFile file(part);
  TRIBUTARY_RETURN_IF_ERROR(file.Lock());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t there, file.Size());
  if (fs::exists(options.file, error)) {
    if (there == 0) fs::remove(part, error);
    TRIBUTARY_ASSIGN_OR_RETURN(const Checksum found, ChecksumOfFile(options.file, published.kind));
    if (found == published) return OkStatus();
    return Corrupt(fmt::format("{} is there, and its {} is not {}; remove it to download it again",
                               options.file.string(), NameOf(published.kind), published.hex));
  }
  TRIBUTARY_RETURN_IF_ERROR(file.GoOn(options));
  TRIBUTARY_ASSIGN_OR_RETURN(Checksum found, ChecksumOfFile(part, published.kind));
  if (found != published && there > 0) {
    // The partial file may have been of something else: download it again from the beginning.
    TRIBUTARY_RETURN_IF_ERROR(file.Empty());
    TRIBUTARY_RETURN_IF_ERROR(file.GoOn(options));
    TRIBUTARY_ASSIGN_OR_RETURN(found, ChecksumOfFile(part, published.kind));
  }
  if (found != published) {
    fs::remove(part, error);
    return Corrupt(fmt::format("the download of {} has the {} {}, but {} was published; it was deleted",
                               options.url, NameOf(published.kind), found.hex, published.hex));
  }
  fs::rename(part, options.file, error);
  if (error) return SystemError("cannot name", options.file, error.value());
  return SyncFolder(folder);
}

namespace {

constexpr std::size_t kMostEntries = 100'000;
constexpr std::int64_t kLargestEntry = 2'000'000'000;

Status ArchiveError(const fs::path& path, archive* reader) {
  const char* text = archive_error_string(reader);
  return Corrupt(path.string() + " cannot be unpacked: " + (text == nullptr ? "it is no archive" : text));
}

StatusOr<std::string> ReadEntry(const fs::path& path, archive* reader, const WantedEntry& wanted) {
  std::string bytes(static_cast<std::size_t>(wanted.size.value), '\0');
  std::size_t done = 0;
  char beyond = 0;
  while (true) {
    const bool full = done == bytes.size();
    const la_ssize_t read =
        archive_read_data(reader, full ? &beyond : bytes.data() + done, full ? 1 : bytes.size() - done);
    if (read < 0) return ArchiveError(path, reader);
    if (read == 0 && full) return bytes;
    if (read == 0 || full) {
      return Corrupt(fmt::format("{} in {} has {} than {}", wanted.name, path.string(),
                                 full ? "more" : "less", FormatBytes(wanted.size)));
    }
    done += static_cast<std::size_t>(read);
  }
}

}  // namespace

Status Unpack(const fs::path& path, const std::vector<WantedEntry>& wanted) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), archive_read_free);
  if (!reader) return ResourceExhausted("libarchive could not be started");
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), 65536) != ARCHIVE_OK)
    return ArchiveError(path, reader.get());
  std::vector<bool> found(wanted.size(), false);
  for (std::size_t entries = 0;; ++entries) {
    if (entries == kMostEntries) return ResourceExhausted(path.string() + " holds too many files");
    archive_entry* entry = nullptr;
    const int next = archive_read_next_header(reader.get(), &entry);
    if (next == ARCHIVE_EOF) break;
    if (next != ARCHIVE_OK && next != ARCHIVE_WARN) return ArchiveError(path, reader.get());
    const char* name = archive_entry_pathname(entry);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (name == nullptr || wanted[i].name != name || found[i]) continue;
      if (archive_entry_filetype(entry) != AE_IFREG || wanted[i].size.value > kLargestEntry)
        return Corrupt(wanted[i].name + " in " + path.string() + " is no plain file");
      TRIBUTARY_ASSIGN_OR_RETURN(const std::string bytes, ReadEntry(path, reader.get(), wanted[i]));
      std::error_code error;
      fs::create_directories(wanted[i].file.parent_path(), error);
      TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(wanted[i].file, bytes));
      found[i] = true;
      break;  // The entry's data has been read.
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!found[i]) return Corrupt(path.string() + " holds no " + wanted[i].name);
  }
  return OkStatus();
}

}  // namespace tributary::inline download
