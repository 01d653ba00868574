#include "tributary/fleet/protocol/audit_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace tributary::inline protocol {
namespace {

class AuditLogTest : public testing::Test {
 protected:
  ~AuditLogTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<AuditLog> Log() {
    auto log = AuditLog::Open(path_, [this] { return now_; });
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? std::move(*log) : nullptr;
  }
  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void Write(const std::vector<std::string>& lines, const std::string& end = "") const {
    std::ofstream file(path_, std::ios::trunc);
    for (const std::string& line : lines) file << line << "\n";
    file << end;
  }
  std::string Fault() const { return VerifyAudit(path_).status().message(); }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("audit_log_test_" + std::to_string(::getpid()));
  WallTime now_ = std::chrono::seconds(1'700'000'000);
};

TEST_F(AuditLogTest, WritesEntriesThatPeopleCanRead) {
  Log()->Record("joined", {{"device", "pi-3"}, {"address", "ipv4:10.0.0.3:4711"}});
  ASSERT_EQ(Lines().size(), 1U);
  EXPECT_EQ(Lines()[0], R"({"entry":1,"time":"2023-11-14T22:13:20Z","event":"joined","device":"pi-3",)"
                        R"("address":"ipv4:10.0.0.3:4711","previous":")" +
                            std::string(64, '0') + "\"}");
}

TEST_F(AuditLogTest, GoesOnWhereTheProcessBeforeEnded) {
  Log()->Record("joined", {{"device", "a"}});
  const auto one = VerifyAudit(path_).value();
  Log()->Record("left", {{"device", "a \"quoted\" \xff"}});
  const auto two = VerifyAudit(path_).value();
  EXPECT_EQ(one.entries, 1U);
  EXPECT_EQ(two.entries, 2U);
  EXPECT_NE(one.last, two.last);
}

TEST_F(AuditLogTest, AnyChangeOfALineButTheLastIsFound) {
  {
    const auto log = Log();
    for (int i = 0; i < 5; ++i) log->Record("joined", {{"device", std::to_string(i)}});
  }
  const std::vector<std::string> good = Lines();
  const auto tampered = [&](const auto& change) {
    std::vector<std::string> lines = good;
    change(lines);
    Write(lines);
    return Fault();
  };
  EXPECT_EQ(tampered([](auto&) {}), "");
  EXPECT_NE(
      tampered([](auto& lines) { lines[1].replace(lines[1].find("joined"), 6, "parted"); }).find("line 3"),
      std::string::npos);
  EXPECT_NE(tampered([](auto& lines) { lines.erase(lines.begin() + 2); }).find("line 3"), std::string::npos);
  EXPECT_NE(tampered([](auto& lines) { lines.erase(lines.begin()); }).find("line 1"), std::string::npos);
  EXPECT_NE(tampered([](auto& lines) { lines.insert(lines.begin() + 1, lines[1]); }).find("line 3"),
            std::string::npos);
  EXPECT_NE(tampered([](auto& lines) { std::swap(lines[1], lines[2]); }).find("line 2"), std::string::npos);
  EXPECT_NE(tampered([](auto& lines) { lines[3] = "nonsense"; }).find("line 4"), std::string::npos);
  EXPECT_FALSE(AuditLog::Open(path_, [] { return WallTime(0); }).ok());
}

TEST_F(AuditLogTest, ALineThatAKilledProcessDidNotFinishIsTakenOffAndSaid) {
  Log()->Record("joined", {{"device", "a"}});
  Write(Lines(), "{\"entry\":2,\"ti");
  EXPECT_EQ(VerifyAudit(path_)->unfinished, 14U);
  Log()->Record("left", {{"device", "a"}});
  const auto state = VerifyAudit(path_);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->entries, 3U);
  EXPECT_NE(Lines()[1].find(R"("event":"unfinished","bytes":"14")"), std::string::npos);
}

TEST_F(AuditLogTest, AFloodIsCountedAndDoesNotFillTheDisk) {
  const auto log = Log();
  for (int i = 0; i < 5000; ++i) log->Record("refused", {});
  EXPECT_EQ(Lines().size(), 1000U);
  now_ += std::chrono::minutes(1);
  log->Record("refused", {});
  EXPECT_NE(Lines().back().find(R"("omitted":4000)"), std::string::npos);
  EXPECT_TRUE(VerifyAudit(path_).ok());
}

}  // namespace
}  // namespace tributary::inline protocol
