#include "tributary/download/download.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace tributary::inline download {
namespace {

namespace fs = std::filesystem;

class UnpackTest : public ::testing::Test {
 protected:
  UnpackTest() : folder_(fs::path(::testing::TempDir()) / ("unpack_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~UnpackTest() override { fs::remove_all(folder_); }

  // An archive of these; an empty text is a link to /etc/passwd.
  fs::path Pack(const std::vector<std::pair<std::string, std::string>>& files) {
    const fs::path path = folder_ / "packed.tar.gz";
    archive* writer = archive_write_new();
    archive_write_add_filter_gzip(writer);
    archive_write_set_format_pax_restricted(writer);
    EXPECT_EQ(archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
    for (const auto& [name, text] : files) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, name.c_str());
      archive_entry_set_perm(entry, 0644);
      if (text.empty()) {
        archive_entry_set_filetype(entry, AE_IFLNK);
        archive_entry_set_symlink(entry, "/etc/passwd");
      } else {
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
      }
      archive_write_header(writer, entry);
      archive_write_data(writer, text.data(), text.size());
      archive_entry_free(entry);
    }
    archive_write_close(writer);
    archive_write_free(writer);
    return path;
  }
  std::string Text(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(folder_ / file).rdbuf();
    return text.str();
  }

  const fs::path folder_;
};

TEST_F(UnpackTest, TakesWhatIsWantedAndNothingElse) {
  const fs::path packed =
      Pack({{"set/a.bin", "one"}, {"../evil", "two"}, {"/tmp/evil", "three"}, {"set/b.bin", "four"}});
  const Status status =
      Unpack(packed, {{"set/b.bin", folder_ / "out/b", {4}}, {"set/a.bin", folder_ / "out/a", {3}}});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Text("out/a"), "one");
  EXPECT_EQ(Text("out/b"), "four");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
  EXPECT_FALSE(fs::exists(folder_.parent_path() / "evil"));
}

TEST_F(UnpackTest, RefusesWhatIsMissingOrOfAnotherSizeOrKind) {
  const fs::path packed = Pack({{"a", "one"}, {"link", ""}});
  const auto refusal = [&](const WantedEntry& entry) { return Unpack(packed, {entry}).message(); };
  EXPECT_NE(refusal({"b", folder_ / "b", {3}}).find("holds no b"), std::string::npos);
  EXPECT_NE(refusal({"a", folder_ / "a", {2}}).find("has more than 2"), std::string::npos)
      << refusal({"a", folder_ / "a", {2}});
  EXPECT_NE(refusal({"a", folder_ / "a", {4}}).find("has less than 4"), std::string::npos);
  EXPECT_NE(refusal({"link", folder_ / "a", {4}}).find("no plain file"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(UnpackTest, RefusesWhatIsNoArchiveOrBroken) {
  const WantedEntry entry{"a", folder_ / "a", {300'000}};
  std::ofstream(folder_ / "text") << "not an archive at all, only a text";
  EXPECT_FALSE(Unpack(folder_ / "text", {entry}).ok());
  EXPECT_FALSE(Unpack(folder_ / "nowhere", {entry}).ok());
  std::string noise(300'000, 0);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>((i * i * 2654435761U) >> 13);
  const fs::path packed = Pack({{"a", noise}});
  EXPECT_TRUE(Unpack(packed, {entry}).ok());
  fs::remove(folder_ / "a");
  fs::resize_file(packed, fs::file_size(packed) / 2);
  EXPECT_FALSE(Unpack(packed, {entry}).ok());
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

}  // namespace
}  // namespace tributary::inline download
