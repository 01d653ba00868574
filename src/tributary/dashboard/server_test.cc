#include "tributary/dashboard/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tributary/dashboard/report.h"
#include "tributary/dashboard/testing_events.h"

namespace tributary::inline dashboard {
namespace {

// A plain socket, to say what no library would.
class Caller {
 public:
  explicit Caller(const std::string& url) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval longest{5, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
  }
  ~Caller() { ::close(socket_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void Say(const std::string& text) { (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  // What comes until `end` does, or nothing more.
  std::string Hear(const std::string& end = "") {
    std::string heard;
    char buffer[4096];
    while (end.empty() || heard.find(end) == std::string::npos) {
      const ssize_t count = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      heard.append(buffer, static_cast<std::size_t>(count));
    }
    return heard;
  }

 private:
  const int socket_;
};

std::string Ask(const std::string& url, const std::string& path, const std::string& header = "",
                const std::string& host = "localhost") {
  Caller caller(url.substr(0, url.find("/?")));
  caller.Say("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + header + "\r\n");
  return caller.Hear();
}

class DashboardServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DashboardPage().empty()) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << "nothing may be skipped in CI";
      GTEST_SKIP() << "SKIPPED: the dashboard's server (its page was built without Node)";
    }
  }
  std::unique_ptr<DashboardServer> Start(DashboardOptions options = {}) {
    return std::move(DashboardServer::Start(board_, std::move(options))).value();
  }
  SharedBoard board_;
};

TEST_F(DashboardServerTest, ServesThePageTheBoardAndTheFigures) {
  board_.Write(Started(2));
  const auto server = Start({.metrics = [] { return "up 1\n"; }});
  const std::string page = Ask(server->url(), "/");
  EXPECT_NE(page.find("200 OK"), std::string::npos);
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("<script id=\"board\""), std::string::npos);
  EXPECT_NE(Ask(server->url(), "/api/board").find("\"experiment\":\"test\""), std::string::npos);
  EXPECT_NE(Ask(server->url(), "/metrics").find("\r\n\r\nup 1\n"), std::string::npos);
}

TEST_F(DashboardServerTest, CompressesNothing) {
  const auto server = Start({.metrics = [] { return std::string(10'000, '#') + "\n"; }});
  for (const char* path : {"/", "/api/board", "/metrics"}) {
    const std::string answer = Ask(server->url(), path, "Accept-Encoding: gzip, deflate, br\r\n");
    EXPECT_NE(answer.find("200 OK"), std::string::npos) << path;
    EXPECT_EQ(answer.find("Content-Encoding"), std::string::npos) << path;
  }
}

TEST_F(DashboardServerTest, TellsWhatHappensAsItHappens) {
  board_.Write(Started(2));
  const auto server = Start({.states = [] { return std::vector<std::string>{"computing", "gone"}; }});
  Caller caller(server->url());
  caller.Say("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(caller.Hear("\n\n").find("event: board"), std::string::npos);
  PlayRound(board_, 1, 2, 1);
  EXPECT_NE(caller.Hear("\"round\":[1]").find("event: points"), std::string::npos);
  EXPECT_NE(caller.Hear("\"gone\"").find("event: devices"), std::string::npos);
}

TEST_F(DashboardServerTest, TellsHowItEndedBeforeItGoes) {
  board_.Write(Started(2));
  auto server = Start();
  Caller caller(server->url());
  caller.Say("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(caller.Hear("\n\n").find("event: board"), std::string::npos);
  board_.Write(At(3, RunFinished{1, RunEnd::kTarget, 0.75}));
  const auto start = std::chrono::steady_clock::now();
  server.reset();
  // At once: nobody is waited for who could ask for more.
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(1900));  // A connection was kept for 2 s.
  EXPECT_NE(caller.Hear().find("\"ended_by\":\"target\""), std::string::npos);
}

TEST_F(DashboardServerTest, AsksForTheToken) {
  const auto server = Start({.token = "0123456789abcdef"});
  EXPECT_NE(server->url().find("/?token=0123456789abcdef"), std::string::npos);
  for (const char* path : {"/api/board", "/api/events", "/metrics", "/x", "/api/board?token=",
                           "/api/board?token=0123456789abcdeF", "/api/board?token=0123456789abcdef0"}) {
    EXPECT_NE(Ask(server->url(), path).find("401"), std::string::npos) << path;
  }
  EXPECT_NE(Ask(server->url(), "/api/board?token=0123456789abcdef").find("200 OK"), std::string::npos);
  EXPECT_NE(Ask(server->url(), "/").find("200 OK"), std::string::npos);  // It tells nothing of the run.
  EXPECT_NE(Ask(server->url(), "/api/board", "Authorization: Bearer 0123456789abcdef\r\n").find("200 OK"),
            std::string::npos);
  EXPECT_NE(Ask(server->url(), "/api/board", "Authorization: Bearer 1\r\n").find("401"), std::string::npos);
}

TEST_F(DashboardServerTest, AnswersOnlyToTheNamesOfThisMachine) {
  const auto here = Start();
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]", "[::1]:8080"}) {
    for (const char* path : {"/", "/api/board"})
      EXPECT_NE(Ask(here->url(), path, "", host).find("200 OK"), std::string::npos) << host;
  }
  for (const char* host : {"", "x", "evil.example.org", "localhost.evil.example.org:80",
                           "127.0.0.1.evil.example.org", "[", "[::2]"}) {
    for (const char* path : {"/", "/api/board", "/api/events", "/metrics"})
      EXPECT_NE(Ask(here->url(), path, "", host).find("421"), std::string::npos) << host;
  }
  const auto elsewhere = Start({.address = "0.0.0.0:0", .token = "0123456789abcdef"});
  EXPECT_NE(Ask(elsewhere->url(), "/api/board?token=0123456789abcdef", "", "lab.example.org").find("200 OK"),
            std::string::npos);
}

TEST_F(DashboardServerTest, HasNothingElse) {
  const auto server = Start();
  for (const char* path : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/../../etc/passwd", "/api",
                           "//", "/index.html"}) {
    const std::string answer = Ask(server->url(), path);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 40")) << path << answer.substr(0, 40);
    EXPECT_EQ(answer.find("root:"), std::string::npos);
  }
  Caller poster(server->url());
  poster.Say("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
  EXPECT_NE(poster.Hear().find("405"), std::string::npos);
}

TEST_F(DashboardServerTest, RefusesWhatIsTooLarge) {
  const auto server = Start();
  EXPECT_FALSE(Ask(server->url(), "/" + std::string(100'000, 'a')).find("200 OK") != std::string::npos);
  EXPECT_EQ(Ask(server->url(), "/", "X: " + std::string(1'000'000, 'a') + "\r\n").find("200 OK"),
            std::string::npos);
  Caller garbage(server->url());
  garbage.Say(std::string(1000, '\0') + "\r\n\r\n");
  EXPECT_EQ(garbage.Hear().find("200 OK"), std::string::npos);
  EXPECT_NE(Ask(server->url(), "/").find("200 OK"), std::string::npos);  // Still there for others.
}

TEST_F(DashboardServerTest, DoesNotLetSlowCallersHoldUpTheRun) {
  board_.Write(Started(1000));
  const auto server = Start();
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < 100;
       ++i) {  // More than there are threads: half say nothing, half follow and read nothing.
    callers.push_back(std::make_unique<Caller>(server->url()));
    callers.back()->Say(i % 2 == 0 ? "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n" : "GET /api");
  }
  const auto play = [](SharedBoard& board) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t round = 1; round <= 100; ++round)
      PlayRound(board, round, 1000, static_cast<double>(round));
    return std::chrono::steady_clock::now() - start;
  };
  SharedBoard alone;
  const auto undisturbed = play(alone);
  EXPECT_LT(play(board_), 5 * undisturbed + std::chrono::seconds(2));  // They share the machine's processors.
}

TEST_F(DashboardServerTest, RefusesMoreFollowersThanItMayHave) {
  const auto server = Start();
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < DashboardServer::kMostPages; ++i) {
    callers.push_back(std::make_unique<Caller>(server->url()));
    callers.back()->Say("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_NE(callers.back()->Hear("\n\n").find("200 OK"), std::string::npos) << i;
  }
  EXPECT_NE(Ask(server->url(), "/api/events").find("503"), std::string::npos);
  EXPECT_NE(Ask(server->url(), "/").find("200 OK"), std::string::npos);
}

TEST_F(DashboardServerTest, SaysWhyItCannotStart) {
  const auto refused = [&](DashboardOptions options) {
    return DashboardServer::Start(board_, std::move(options)).status();
  };
  EXPECT_EQ(refused({.address = "here"}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({.address = "127.0.0.1:99999"}).code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused({.address = ":0"}).message().find("token"), std::string::npos);
  const auto first = Start();
  const std::string url = first->url();
  const std::string port = url.substr(url.rfind(':') + 1, url.size() - url.rfind(':') - 2);
  EXPECT_EQ(refused({.address = "127.0.0.1:" + port}).code(), StatusCode::kUnavailable);
}

TEST(DashboardToken, IsLongAndNewEachTime) {
  EXPECT_EQ(MakeToken().size(), 32u);
  EXPECT_NE(MakeToken(), MakeToken());
}

}  // namespace
}  // namespace tributary::inline dashboard
