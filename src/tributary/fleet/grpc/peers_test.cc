// Device to device over real gRPC: what is offered, to whom, and who is let in; with and without TLS.

#include "tributary/fleet/grpc/peers.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <tributary/v1/fleet.grpc.pb.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <future>
#include <thread>

#include "tributary/base/check.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/keys/authority.h"

namespace tributary::inline rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kParameters = 600'001, kStatistics = 3;  // more than two parts

class PeersTest : public ::testing::Test {
 protected:
  PeersTest() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i] = static_cast<float>(i);
  }
  static MeetingPeer Neighbour(const std::string& name, const std::string& address,
                               const std::string& serial = "") {
    return {DeviceId{1}, name, address, serial, 0.5};
  }
  // A server that is at a meeting with these.
  void Serve(std::vector<MeetingPeer> guests, std::optional<Credentials> credentials = {},
             const RevocationList* revoked = nullptr) {
    auto started = PeerServer::Start(
        {.advertise = {"127.0.0.1", 0}, .credentials = std::move(credentials), .revoked = revoked}, book_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::move(*started);
    book_.Announce({.id = kMeeting, .peers = std::move(guests)});
  }
  void Offer() { book_.Offer(kMeeting, {parameters_, statistics_}); }
  Status Fetch(PeerClient& client, const MeetingPeer& from, std::uint64_t meeting = kMeeting,
               std::stop_token stop = {}) {
    model_ = std::make_unique<IncomingModel>(kParameters, kStatistics);
    return client.Fetch(meeting, from, *model_, stop);
  }
  void ExpectModel() const {
    EXPECT_TRUE(model_->complete());
    EXPECT_TRUE(std::ranges::equal(model_->model().parameters, parameters_));
    EXPECT_TRUE(std::ranges::equal(model_->model().statistics, statistics_));
  }

  static constexpr std::uint64_t kMeeting = 11;
  std::vector<float> parameters_ = std::vector<float>(kParameters);
  const std::vector<float> statistics_ = {7, 8, 9};
  OfferBook book_;
  std::unique_ptr<PeerServer> server_;
  std::unique_ptr<IncomingModel> model_;
};

TEST_F(PeersTest, BringsTheWholeModel) {
  Serve({Neighbour("a", "")});
  Offer();
  PeerClient client({}, "a");
  for (int i = 0; i < 3; ++i) {
    const Status status = Fetch(client, Neighbour("b", server_->address()));
    ASSERT_TRUE(status.ok()) << status;
    ExpectModel();
  }
}

TEST_F(PeersTest, WaitsUntilItIsMadeAndForTheMeetingToBeKnown) {
  Serve({Neighbour("a", "")});
  PeerClient client({}, "a");
  auto fetching =
      std::async(std::launch::async, [&] { return Fetch(client, Neighbour("b", server_->address()), 12); });
  EXPECT_EQ(fetching.wait_for(milliseconds(100)), std::future_status::timeout);
  book_.Announce({.id = 12, .peers = {Neighbour("a", "")}});
  EXPECT_EQ(fetching.wait_for(milliseconds(100)), std::future_status::timeout);
  book_.Offer(12, {parameters_, statistics_});
  const Status status = fetching.get();
  EXPECT_TRUE(status.ok()) << status;
  ExpectModel();
}

TEST_F(PeersTest, EndsWhenTheMeetingIsOver) {
  Serve({Neighbour("a", "")});
  PeerClient client({}, "a");
  for (const std::uint64_t meeting : {kMeeting, std::uint64_t{5}}) {  // this one, and one that nobody knows
    auto fetching = std::async(std::launch::async,
                               [&] { return Fetch(client, Neighbour("b", server_->address()), meeting); });
    EXPECT_EQ(fetching.wait_for(milliseconds(100)), std::future_status::timeout);
    book_.Announce({.id = 99, .peers = {Neighbour("a", "")}});
    EXPECT_NE(fetching.get().message().find("not at that meeting"), std::string::npos);
    book_.Announce({.id = kMeeting, .peers = {Neighbour("a", "")}});
  }
}

TEST_F(PeersTest, StopsWhenToldTo) {
  Serve({Neighbour("a", "")});
  PeerClient client({}, "a");
  std::stop_source stop;
  auto fetching = std::async(std::launch::async, [&] {
    return Fetch(client, Neighbour("b", server_->address()), kMeeting, stop.get_token());
  });
  EXPECT_EQ(fetching.wait_for(milliseconds(100)), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(fetching.get().code(), StatusCode::kCancelled);
}

TEST_F(PeersTest, RefusesWhoIsNotToBeMet) {
  Serve({Neighbour("a", "")});
  Offer();
  PeerClient stranger({}, "c"), nobody({}, "No Name"), reserved({}, "coordinator");
  const MeetingPeer here = Neighbour("b", server_->address());
  EXPECT_NE(Fetch(stranger, here).message().find("'c' is not one of the neighbours"), std::string::npos);
  EXPECT_NE(Fetch(nobody, here).message().find("No Name"), std::string::npos);
  EXPECT_FALSE(Fetch(reserved, here).ok());
  PeerClient client({}, "a");
  EXPECT_TRUE(Fetch(client, here).ok());
}

// One call each: the second ends the first.
TEST_F(PeersTest, HoldsOneCallForEach) {
  Serve({Neighbour("a", "")});
  PeerClient first({}, "a"), second({}, "a");
  const MeetingPeer here = Neighbour("b", server_->address());
  IncomingModel lost(kParameters, kStatistics);
  auto losing = std::async(std::launch::async, [&] { return first.Fetch(kMeeting, here, lost, {}); });
  EXPECT_EQ(losing.wait_for(milliseconds(200)), std::future_status::timeout);
  auto fetching = std::async(std::launch::async, [&] { return Fetch(second, here); });
  EXPECT_NE(losing.get().message().find("asks again"), std::string::npos);
  Offer();
  EXPECT_TRUE(fetching.get().ok());
}

TEST_F(PeersTest, HoldsABoundedNumberOfCalls) {
  Serve({Neighbour("a", "")});
  const auto stub = v1::Peers::NewStub(DialPeer(server_->address(), {}, "b"));
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::ModelPart>> reader;
  };
  // Each connection has few calls at once, so that many are needed.
  std::vector<std::unique_ptr<v1::Peers::Stub>> stubs;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 256; ++i) {
    if (i % 8 == 0) stubs.push_back(v1::Peers::NewStub(DialPeer(server_->address(), {}, "b")));
    v1::FetchRequest request;
    request.set_meeting(kMeeting + 1);
    request.set_name("x" + std::to_string(i));
    calls.push_back(std::make_unique<Call>());
    calls.back()->context.set_deadline(std::chrono::system_clock::now() + seconds(30));
    calls.back()->reader = stubs.back()->Fetch(&calls.back()->context, request);
    calls.back()->reader->WaitForInitialMetadata();
  }
  PeerClient client({}, "a");
  EXPECT_NE(Fetch(client, Neighbour("b", server_->address())).message().find("too many calls at once"),
            std::string::npos);
  // Those that hold them up are ended by the next meeting.
  book_.Announce({.id = kMeeting, .peers = {Neighbour("a", "")}});
  Offer();
  for (const auto& call : calls) {
    v1::ModelPart part;
    EXPECT_FALSE(call->reader->Read(&part));
    EXPECT_EQ(call->reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_TRUE(Fetch(client, Neighbour("b", server_->address())).ok());
}

TEST_F(PeersTest, SaysSoonWhereNobodyAnswers) {
  PeerClient client({}, "a");
  EXPECT_FALSE(Fetch(client, Neighbour("b", "127.0.0.1:1")).ok());
  EXPECT_FALSE(Fetch(client, Neighbour("b", "no-such-host.invalid:7071")).ok());
}

TEST_F(PeersTest, ListensOnThePortThatItSays) {
  Serve({});
  const auto port = ParsePeerAddress(server_->address());
  ASSERT_TRUE(port.ok());
  EXPECT_NE(port->port, 0);
  OfferBook other;
  const auto taken = PeerServer::Start({.advertise = *port}, other);
  EXPECT_NE(taken.status().message().find("cannot listen for neighbours on"), std::string::npos);
  // Elsewhere than it says, as behind a router that forwards.
  PeerServerOptions options;
  options.advertise = {"example.org", 7071};
  options.listen = "127.0.0.1:0";
  const auto elsewhere = PeerServer::Start(std::move(options), other);
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.status();
  EXPECT_EQ((*elsewhere)->address(), "example.org:7071");
}

// A neighbour that sends whatever it likes.
class WrongPeers : public v1::Peers::Service {
 public:
  explicit WrongPeers(std::function<void(grpc::ServerWriter<v1::ModelPart>&)> script)
      : script_(std::move(script)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~WrongPeers() override { server_->Shutdown(std::chrono::system_clock::now() + seconds(1)); }
  grpc::Status Fetch(grpc::ServerContext*, const v1::FetchRequest*,
                     grpc::ServerWriter<v1::ModelPart>* writer) override {
    script_(*writer);
    return grpc::Status::OK;
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  const std::function<void(grpc::ServerWriter<v1::ModelPart>&)> script_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

v1::ModelPart Part(std::uint64_t version, std::size_t bytes) {
  v1::ModelPart part;
  part.set_version(version);
  part.set_values(std::string(bytes, 'x'));
  return part;
}

TEST_F(PeersTest, RefusesWhatIsNoModel) {
  const auto refusal = [&](std::function<void(grpc::ServerWriter<v1::ModelPart>&)> script) {
    const WrongPeers wrong(std::move(script));
    PeerClient client({}, "a");
    return Fetch(client, Neighbour("b", wrong.address())).message();
  };
  EXPECT_NE(refusal([](auto&) {}).find("ends early"), std::string::npos);
  EXPECT_NE(refusal([](auto& w) { w.Write(Part(1, 1000)); }).find("ends early"), std::string::npos);
  EXPECT_NE(refusal([](auto& w) { w.Write(Part(1, 0)); }).find("a part of 0 bytes"), std::string::npos);
  EXPECT_NE(refusal([](auto& w) { w.Write(Part(1, kMostPartBytes + 1)); }).find("a part of"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& w) { w.Write(Part(1, 4)), w.Write(Part(2, 4)); }).find("changes on the way"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& w) {
              while (w.Write(Part(1, kMostPartBytes))) {
              }
            }).find("a model of more than"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& w) { w.Write(Part(1, 8 << 20)); }), "");  // more than a message may have
}

class PeersTlsTest : public PeersTest {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("tributary_peers_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    for (const char* authority : {"keys", "other"}) {
      TRIBUTARY_CHECK(InitAuthority(folder_ / authority, {.now = std::time(nullptr)}).ok());
      for (const char* name : {"a", "b", "c"}) {
        TRIBUTARY_CHECK(IssueDevice(folder_ / authority, name, {.now = std::time(nullptr)}).ok());
      }
    }
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static Credentials Of(const std::string& name, const std::string& authority = "keys") {
    auto credentials = LoadCredentials(folder_ / authority / "devices" / name);
    TRIBUTARY_CHECK(credentials.ok());
    return *credentials;
  }
  static std::string Serial(const Credentials& credentials) {
    return *SerialInCertificate(credentials.certificate_pem);
  }

  static std::filesystem::path folder_;
};
std::filesystem::path PeersTlsTest::folder_;

TEST_F(PeersTlsTest, BringsTheModelToTheCertificateThatWasNamed) {
  Serve({Neighbour("a", "", Serial(Of("a")))}, Of("b"));
  Offer();
  PeerClient client(Of("a"), "");
  const Status status = Fetch(client, Neighbour("b", server_->address(), Serial(Of("b"))));
  ASSERT_TRUE(status.ok()) << status;
  ExpectModel();
}

TEST_F(PeersTlsTest, RefusesOtherClients) {
  Serve({Neighbour("a", "", Serial(Of("a")))}, Of("b"));
  Offer();
  const MeetingPeer here = Neighbour("b", server_->address(), Serial(Of("b")));
  // Another device of the fleet, whatever it calls itself.
  PeerClient other(Of("c"), "");
  EXPECT_NE(Fetch(other, here).message().find("'c' is not one of the neighbours"), std::string::npos);
  Credentials lying = Of("c");
  lying.name = "a";
  PeerClient liar(lying, "");
  EXPECT_NE(Fetch(liar, here).message().find("'a' has the certificate of 'c'"), std::string::npos);
  // One of the same name by another authority; nobody at all.
  Credentials foreign = Of("a", "other");
  foreign.authority_pem = Of("a").authority_pem;
  PeerClient stranger(foreign, ""), plain({}, "a");
  EXPECT_EQ(Fetch(stranger, here).code(), StatusCode::kUnavailable);
  EXPECT_EQ(Fetch(plain, here).code(), StatusCode::kUnavailable);
}

// A certificate that was revoked and replaced is still one of the fleet's; but not the one that the coordinator has let in.
TEST_F(PeersTlsTest, RefusesAnOlderCertificateOfTheSameName) {
  Serve({Neighbour("a", "", "0123")}, Of("b"));
  Offer();
  PeerClient client(Of("a"), "");
  EXPECT_NE(Fetch(client, Neighbour("b", server_->address(), Serial(Of("b"))))
                .message()
                .find("another certificate"),
            std::string::npos);
  book_.Announce({.id = kMeeting, .peers = {Neighbour("a", "", Serial(Of("a")))}});
  Offer();
  const Status status = Fetch(client, Neighbour("b", server_->address(), "0123"));
  EXPECT_NE(status.message().find("another certificate of 'b' than the coordinator knows"), std::string::npos)
      << status;
  EXPECT_EQ(model_->filled(), 0U);
}

// Also one that the coordinator has let in, and has revoked since.
TEST_F(PeersTlsTest, RefusesRevokedNeighbours) {
  for (const char* name : {"d", "e"})
    TRIBUTARY_CHECK(IssueDevice(folder_ / "keys", name, {.now = std::time(nullptr)}).ok());
  const auto list = *RevocationList::Load(folder_ / "keys" / "revoked.pem", Of("d").authority_pem);
  Serve({Neighbour("d", "", Serial(Of("d")))}, Of("e"), list.get());
  Offer();
  const MeetingPeer here = Neighbour("e", server_->address(), Serial(Of("e")));
  PeerClient guest(Of("d"), ""), host(Of("d"), "", list.get());
  EXPECT_TRUE(Fetch(guest, here).ok());
  TRIBUTARY_CHECK(Revoke(folder_ / "keys", "e", std::time(nullptr)).ok() && list->Refresh().ok());
  EXPECT_EQ(Fetch(host, here).message(), "the certificate of 'e' has been revoked");
  TRIBUTARY_CHECK(Revoke(folder_ / "keys", "d", std::time(nullptr)).ok() && list->Refresh().ok());
  EXPECT_EQ(Fetch(guest, here).message(), "the certificate of 'd' has been revoked");
}

// The roles of others than devices.
TEST_F(PeersTlsTest, RefusesWhoIsNoDevice) {
  Serve({Neighbour("a", "", Serial(Of("a")))}, Of("b"));
  Offer();
  for (const Role role : {Role::kObserver, Role::kOperator, Role::kCoordinator}) {
    const auto bundle = IssueDevice(folder_ / "keys", "x-" + std::string(NameOf(role)),
                                    {.now = std::time(nullptr), .role = role});
    TRIBUTARY_CHECK(bundle.ok());
    PeerClient client(*LoadCredentials(*bundle), "");
    EXPECT_EQ(Fetch(client, Neighbour("b", server_->address(), Serial(Of("b")))),
              CheckRight({"x-" + std::string(NameOf(role)), role}, Right::kTakePart));
  }
}

// Keys that were renewed, and an authority that was replaced, while the server runs and the client is connected.
TEST_F(PeersTlsTest, FollowsChangedKeys) {
  const auto dir = folder_ / "rotated";
  TRIBUTARY_CHECK(InitAuthority(dir, {.now = std::time(nullptr)}).ok());
  const auto issue = [&](const char* name, bool renew) {
    TRIBUTARY_CHECK(IssueDevice(dir, name, {.now = std::time(nullptr), .renew = renew}).ok());
    return *LoadCredentials(dir / "devices" / name);
  };
  Credentials a = issue("a", false), b = issue("b", false);
  PeerClient client(a, "");
  Serve({Neighbour("a", "", Serial(a))}, b);
  const auto meet = [&] {
    book_.Announce({.id = kMeeting, .peers = {Neighbour("a", "", Serial(a))}});
    Offer();
    return Fetch(client, Neighbour("b", server_->address(), Serial(b)));
  };
  EXPECT_TRUE(meet().ok());
  TRIBUTARY_CHECK(RotateAuthority(dir, {.now = std::time(nullptr)}).ok());
  EXPECT_TRUE(meet().ok());
  a = issue("a", true);
  EXPECT_TRUE(meet().ok()) << "a has a certificate of the new authority, and b one of the old one";
  b = issue("b", true);
  // b shows its new certificate on new connections: a connects again when its own files change.
  for (const char* name : {"coordinator", "operator"})
    TRIBUTARY_CHECK(IssueDevice(dir, name, {.now = std::time(nullptr), .renew = true}).ok());
  const Status retired = RetireAuthority(dir, std::time(nullptr));
  ASSERT_TRUE(retired.ok()) << retired;
  const Status met = meet();
  EXPECT_TRUE(met.ok()) << met;
}

// Whoever answers at a neighbour's address must be that neighbour.
TEST_F(PeersTlsTest, DoesNotTakeOneDeviceForAnother) {
  Serve({Neighbour("a", "", Serial(Of("a")))}, Of("c"));
  Offer();
  PeerClient client(Of("a"), "");
  EXPECT_EQ(Fetch(client, Neighbour("b", server_->address(), Serial(Of("b")))).code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(model_->filled(), 0U);
}

}  // namespace
}  // namespace tributary::inline rpc
