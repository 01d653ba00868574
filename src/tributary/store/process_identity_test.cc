#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tributary/store/run_writer.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

TEST(ProcessIdentity, OneThatRunsIsThereHoweverLongItIsSilent) {
  EXPECT_FALSE(IsGone(ThisProcess(), 0s, WallTime(24h)));
}

TEST(ProcessIdentity, OneThatEndedIsGoneAtOnce) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string me = ThisProcess();
    const bool written = ::write(ends[1], me.data(), me.size()) == static_cast<ssize_t>(me.size());
    ::_exit(written ? 0 : 1);
  }
  std::string identity(1000, ' ');
  const ssize_t size = ::read(ends[0], identity.data(), identity.size());
  ASSERT_GT(size, 0);
  identity.resize(static_cast<std::size_t>(size));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_NE(identity, ThisProcess());
  EXPECT_TRUE(IsGone(identity, 0s, 0s));
}

TEST(ProcessIdentity, OfAnotherMachineSilenceTells) {
  const std::string other = "somewhere-else\nboot\n1\n5";
  EXPECT_FALSE(IsGone(other, 100s, 130s));
  EXPECT_TRUE(IsGone(other, 100s, 161s));
}

TEST(ProcessIdentity, TextThatIsNoProcessIsGone) {
  for (const char* const text : {"", "x", "a\nb\nc\nd", "\n\n\n", "a\nb\n../../x\n1"}) {
    EXPECT_TRUE(IsGone(text, 0s, 0s)) << text;
  }
}

}  // namespace
}  // namespace tributary::inline store
