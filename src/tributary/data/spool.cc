#include "tributary/data/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "tributary/base/check.h"

namespace tributary::inline data {
namespace {

static_assert(std::endian::native == std::endian::little, "headings are written as they lie in memory");

struct SpoolHeading {
  std::uint32_t checksum;  // of everything after this field, including the bytes
  std::uint32_t bytes;
  std::int64_t position;
  std::int64_t predecessor;
  std::int64_t tally;
};
constexpr std::int64_t kHeading = sizeof(SpoolHeading);
constexpr std::uint32_t kLargestEntry = std::uint32_t{1} << 27;

struct Mark {
  std::uint32_t checksum;
  std::uint32_t version;
  std::int64_t released;
  std::int64_t tally;
};

template <typename Head>
std::uint32_t ChecksumOf(const Head& head, ByteSpan bytes) {
  constexpr std::size_t kSkip = sizeof head.checksum;
  const auto* raw = reinterpret_cast<const Bytef*>(&head);
  uLong sum = ::crc32(0, raw + kSkip, static_cast<uInt>(sizeof head - kSkip));
  // zlib treats a null pointer, as of an empty span, as a request for the initial value.
  if (!bytes.empty())
    sum = ::crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  return static_cast<std::uint32_t>(sum);
}

// Calls pread or pwrite until all bytes are moved; `none` is the error for a call that moves nothing.
template <typename Byte, typename Call>
int MoveAll(Call call, int file, std::span<Byte> bytes, std::int64_t offset, int none) {
  while (!bytes.empty()) {
    const ssize_t moved = call(file, bytes.data(), bytes.size(), offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : none;
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
    offset += moved;
  }
  return 0;
}

int WriteAt(int file, ByteSpan bytes, std::int64_t offset) {
  return MoveAll(::pwrite, file, bytes, offset, ENOSPC);
}

// Too few bytes are an error, because the caller knows the file's length.
int ReadExactly(int file, std::span<std::byte> bytes, std::int64_t offset) {
  return MoveAll(::pread, file, bytes, offset, EIO);
}

Status Damaged(const std::filesystem::path& path, std::int64_t offset) {
  return Corrupt(fmt::format("{} is damaged at byte {}", path.string(), offset));
}

// The entry at `offset` of a file of `size` bytes; nullopt at its end. Corrupt if incomplete or changed.
StatusOr<std::optional<SpoolEntry>> ReadEntry(int file, std::int64_t offset, std::int64_t size,
                                              const std::filesystem::path& path) {
  if (offset == size) return std::optional<SpoolEntry>();
  if (size - offset < kHeading) return Damaged(path, offset);
  SpoolHeading heading{};
  if (const int error = ReadExactly(file, std::as_writable_bytes(std::span(&heading, 1)), offset))
    return SystemError("cannot read", path, error);
  if (heading.bytes > kLargestEntry || heading.bytes > size - offset - kHeading) return Damaged(path, offset);
  std::vector<std::byte> bytes(heading.bytes);
  if (const int error = ReadExactly(file, bytes, offset + kHeading))
    return SystemError("cannot read", path, error);
  if (heading.checksum != ChecksumOf(heading, bytes)) return Damaged(path, offset);
  return std::optional(SpoolEntry{.position = heading.position,
                                  .predecessor = heading.predecessor,
                                  .tally = heading.tally,
                                  .bytes = std::move(bytes)});
}

std::int64_t SizeOnDisk(const SpoolEntry& entry) {
  return kHeading + static_cast<std::int64_t>(entry.bytes.size());
}

constexpr std::string_view kSuffix = ".spool";

// The number in a segment's file name; 0 for other names.
std::int64_t NumberOf(std::string_view name) {
  std::int64_t number = 0;
  if (!name.ends_with(kSuffix)) return 0;
  name.remove_suffix(kSuffix.size());
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && rest == name.data() + name.size() ? number : 0;
}

}  // namespace

std::filesystem::path Spool::PathOf(std::int64_t segment) const {
  return options_.folder / (std::to_string(segment) + std::string(kSuffix));
}

StatusOr<Spool> Spool::Open(Options options) {
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(options.folder));
  TRIBUTARY_ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(options.folder / "lock"));
  Spool spool(std::move(options), std::move(lock));
  TRIBUTARY_RETURN_IF_ERROR(spool.ReadMark());
  TRIBUTARY_RETURN_IF_ERROR(spool.Recover());
  return spool;
}

Status Spool::ReadMark() {
  const auto path = options_.folder / "mark";
  mark_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (mark_.get() < 0) return SystemError("cannot open", path, errno);
  Mark mark{};
  if (ReadExactly(mark_.get(), std::as_writable_bytes(std::span(&mark, 1)), 0) == 0) {
    if (mark.checksum == ChecksumOf(mark, {}) && mark.version == 1) {
      released_ = last_ = mark.released;
      tally_ = mark.tally;
      return OkStatus();
    }
    damage_ = path.string() + " was damaged: released entries are kept again";
  }
  return WriteMark();  // Written now, while there is room; later writes only overwrite it.
}

Status Spool::WriteMark() {
  Mark mark = {.checksum = 0, .version = 1, .released = released_, .tally = tally_};
  mark.checksum = ChecksumOf(mark, {});
  const int error = WriteAt(mark_.get(), std::as_bytes(std::span(&mark, 1)), 0);
  return error == 0 ? OkStatus() : SystemError("cannot write", options_.folder / "mark", error);
}

Status Spool::Recover() {
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(options_.folder, error)) {
    if (const std::int64_t number = NumberOf(file.path().filename().string()); number > 0)
      numbers.push_back(number);
  }
  if (error) return SystemError("cannot read the folder", options_.folder, error.value());
  std::ranges::sort(numbers);
  for (const std::int64_t number : numbers) TRIBUTARY_RETURN_IF_ERROR(RecoverSegment(number));
  DeleteSegmentsBefore(slots_.empty() ? next_segment_ : slots_.front().segment);
  return OkStatus();
}

Status Spool::RecoverSegment(std::int64_t segment) {
  const auto path = PathOf(segment);
  next_segment_ = segment + 1;
  writing_ = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat info {};
  if (writing_.get() < 0 || ::fstat(writing_.get(), &info) != 0)
    return SystemError("cannot open", path, errno);
  std::int64_t end = 0;
  while (true) {
    auto read = ReadEntry(writing_.get(), end, info.st_size, path);
    if (!read.ok() && read.status().code() != StatusCode::kCorrupt) return std::move(read).status();
    if (!read.ok() || !read->has_value()) break;
    const SpoolEntry& entry = **read;
    if (entry.position > released_) slots_.push_back({entry.position, entry.predecessor, segment, end});
    if (entry.position > last_) last_ = entry.position, tally_ = entry.tally;
    end += SizeOnDisk(entry);
  }
  if (end < info.st_size) {
    damage_ = fmt::format("{} ended in {} bytes of an unfinished or damaged entry, which were dropped",
                          path.string(), info.st_size - end);
    if (::ftruncate(writing_.get(), end) != 0) return SystemError("cannot shorten", path, errno);
  }
  bytes_ += Bytes{end};
  segments_[segment] = end;
  return OkStatus();
}

Status Spool::MakeRoom(std::int64_t size) {
  if (!segments_.empty() && segments_.rbegin()->second + size <= std::max(options_.segment.value, size))
    return OkStatus();
  const auto path = PathOf(next_segment_);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return SystemError("cannot write", path, errno);
  writing_ = std::move(file);
  segments_[next_segment_++] = 0;
  return OkStatus();
}

Status Spool::Append(const SpoolEntry& entry) {
  TRIBUTARY_CHECK(entry.position > last_ && entry.bytes.size() <= kLargestEntry);
  const std::int64_t size = SizeOnDisk(entry);
  if (options_.limit.value > 0 && bytes_.value + size > options_.limit.value) {
    return ResourceExhausted(
        fmt::format("{} holds the {} it may", options_.folder.string(), FormatBytes(options_.limit)));
  }
  TRIBUTARY_RETURN_IF_ERROR(MakeRoom(size));
  auto& [segment, end] = *segments_.rbegin();
  SpoolHeading heading = {.checksum = 0,
                          .bytes = static_cast<std::uint32_t>(entry.bytes.size()),
                          .position = entry.position,
                          .predecessor = entry.predecessor,
                          .tally = entry.tally};
  heading.checksum = ChecksumOf(heading, entry.bytes);
  std::vector<std::byte> frame(static_cast<std::size_t>(size));
  std::memcpy(frame.data(), &heading, sizeof heading);
  std::copy(entry.bytes.begin(), entry.bytes.end(), frame.begin() + kHeading);
  if (const int error = WriteAt(writing_.get(), frame, end)) {
    // The next Open would drop an incomplete entry; this frees its space now.
    (void)!::ftruncate(writing_.get(), end);
    return SystemError("cannot write", PathOf(segment), error);
  }
  slots_.push_back({entry.position, entry.predecessor, segment, end});
  end += size;
  bytes_ += Bytes{size};
  last_ = entry.position;
  tally_ = entry.tally;
  return OkStatus();
}

StatusOr<std::optional<SpoolEntry>> Spool::Next() {
  if (cursor_ == slots_.size()) return std::optional<SpoolEntry>();
  const Slot slot = slots_[cursor_++];
  const auto path = PathOf(slot.segment);
  if (reading_segment_ != slot.segment) {
    reading_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    reading_segment_ = slot.segment;
  }
  if (reading_.get() < 0) {
    reading_segment_ = 0;
    return SystemError("cannot open", path, errno);
  }
  auto entry = ReadEntry(reading_.get(), slot.offset, segments_.at(slot.segment), path);
  if (entry.ok() && (!entry->has_value() || (*entry)->position != slot.position))
    return Damaged(path, slot.offset);
  return entry;
}

void Spool::Rewind(std::int64_t position) {
  const auto at = std::ranges::lower_bound(slots_, position, {}, &Slot::position);
  cursor_ = static_cast<std::size_t>(at - slots_.begin());
}

Status Spool::Release(std::int64_t position) {
  if (position <= released_) return OkStatus();
  released_ = position;
  last_ = std::max(last_, position);
  while (!slots_.empty() && slots_.front().position <= released_) {
    slots_.pop_front();
    if (cursor_ > 0) --cursor_;
  }
  // The mark comes first, so that deleted entries are not expected.
  TRIBUTARY_RETURN_IF_ERROR(WriteMark());
  DeleteSegmentsBefore(slots_.empty() ? next_segment_ : slots_.front().segment);
  return OkStatus();
}

void Spool::DeleteSegmentsBefore(std::int64_t segment) {
  while (!segments_.empty() && segments_.begin()->first < segment) {
    bytes_ = bytes_ - Bytes{segments_.begin()->second};
    ::unlink(PathOf(segments_.begin()->first).c_str());
    segments_.erase(segments_.begin());
  }
  if (segments_.empty()) writing_ = Descriptor();
  if (!segments_.contains(reading_segment_)) {
    reading_ = Descriptor();
    reading_segment_ = 0;
  }
}

}  // namespace tributary::inline data
