#include "tributary/fleet/protocol/peer_meeting.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <future>
#include <map>

#include "tributary/fleet/protocol/meeting_room.h"
#include "tributary/fleet/protocol/testing_exchange.h"

namespace tributary::inline protocol {
namespace {

constexpr std::size_t kParameters = 5, kStatistics = 2;

// A model whose every value is `value`.
std::vector<float> FlatModel(float value) { return std::vector<float>(kParameters + kStatistics, value); }

Status Bring(float value, IncomingModel& model) {
  const std::vector<float> values = FlatModel(value);
  return model.Append(1, std::as_bytes(std::span(values))).status();
}

// Neighbours 0 to `count` - 1, of which each weighs its number and one more.
std::vector<MeetingPeer> Neighbours(std::uint64_t count) {
  std::vector<MeetingPeer> peers;
  for (std::uint64_t i = 0; i < count; ++i) {
    peers.push_back({DeviceId{i}, "pi-" + std::to_string(i), "10.0.0.1:1", "", static_cast<double>(i + 1)});
  }
  return peers;
}

// Waits until it is told to stop.
Status UntilStopped(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
  return Cancelled("stopped");
}

class PeerMeetingTest : public ::testing::Test {
 protected:
  PeerMeetingTest() {
    options_.parameters = kParameters;
    options_.statistics = kStatistics;
    options_.direct = [](const MeetingPeer& peer, IncomingModel& model, const std::stop_token&) {
      return Bring(static_cast<float>(peer.device.value), model);
    };
    options_.relay = [this](const MeetingPeer& peer, IncomingModel& model, const std::stop_token&) {
      ++relayed_;
      model.Clear();
      return Bring(static_cast<float>(peer.device.value), model);
    };
  }
  // Collects, and checks that each was its own.
  std::vector<std::uint64_t> Met(PeerMeeting& meeting) {
    std::map<std::uint64_t, int> taken;
    const auto met = meeting.Collect(
        [&](const MeetingPeer& peer, const SharedWeights& model) {
          EXPECT_EQ(model.parameters.size(), kParameters);
          EXPECT_EQ(model.statistics.size(), kStatistics);
          for (const float value : model.parameters) EXPECT_EQ(value, static_cast<float>(peer.device.value));
          for (const float value : model.statistics) EXPECT_EQ(value, static_cast<float>(peer.device.value));
          ++taken[peer.device.value];
          return OkStatus();
        },
        [] { return false; });
    EXPECT_TRUE(met.ok()) << met.status();
    std::vector<std::uint64_t> numbers;
    for (const tributary::Met& one : *met) {
      numbers.push_back(one.device.value);
      EXPECT_EQ(taken[one.device.value], 1);
      bytes_[one.device.value] = one.bytes;
    }
    EXPECT_EQ(taken.size(), numbers.size());
    return numbers;
  }

  PeerMeetingOptions options_;
  HandClock clock_;
  std::atomic<int> relayed_ = 0;
  std::map<std::uint64_t, std::int64_t> bytes_;
};

TEST_F(PeerMeetingTest, BringsEveryNeighboursModelOnce) {
  for (const std::uint64_t count : {0, 1, 3, 20}) {
    options_.peers = Neighbours(count);
    PeerMeeting meeting(options_, clock_);
    const auto met = Met(meeting);
    ASSERT_EQ(met.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(met[i], i);
  }
  EXPECT_EQ(relayed_, 0);
  EXPECT_EQ(bytes_[7], static_cast<std::int64_t>(4 * (kParameters + kStatistics)));
}

TEST_F(PeerMeetingTest, RelaysWhatCannotBeHadDirectly) {
  options_.peers = Neighbours(3);
  options_.peers[1].address.clear();
  options_.direct = [](const MeetingPeer& peer, IncomingModel& model, const std::stop_token&) -> Status {
    EXPECT_NE(peer.device, DeviceId{1});
    if (peer.device == DeviceId{0}) return Bring(0, model);
    // Breaks off in the middle.
    const std::vector<float> other = FlatModel(99);
    (void)model.Append(9, std::as_bytes(std::span(other)).first(8));
    return Unavailable("broken");
  };
  PeerMeeting meeting(options_, clock_);
  EXPECT_EQ(Met(meeting), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(relayed_, 2);
  EXPECT_EQ(bytes_[1], 0);  // What is relayed the coordinator counts.
  EXPECT_EQ(bytes_[2], 8);
}

TEST_F(PeerMeetingTest, HoldsNoMoreThanAFewModelsAtOnce) {
  options_.peers = Neighbours(20);
  std::atomic<int> fetched = 0;
  options_.direct = [&](const MeetingPeer& peer, IncomingModel& model, const std::stop_token&) {
    ++fetched;
    return Bring(static_cast<float>(peer.device.value), model);
  };
  PeerMeeting meeting(options_, clock_);
  // Nobody takes any: those that have come stay, and no more are fetched.
  while (fetched < static_cast<int>(kMostFetches)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(fetched, static_cast<int>(kMostFetches));
  EXPECT_EQ(Met(meeting).size(), 20U);
}

TEST_F(PeerMeetingTest, SkipsWhoeverItIsToldTo) {
  options_.peers = Neighbours(8);
  std::atomic<int> waiting = 0;
  options_.direct = [&](const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop) {
    if (peer.device.value == 0 || peer.device.value == 6) {
      ++waiting;
      return UntilStopped(stop);
    }
    return Bring(static_cast<float>(peer.device.value), model);
  };
  options_.relay = [](const MeetingPeer&, IncomingModel&, const std::stop_token& stop) {
    return UntilStopped(stop);
  };
  PeerMeeting meeting(options_, clock_);
  while (waiting < 1) std::this_thread::yield();
  meeting.Skip(DeviceId{0});   // which is being fetched
  meeting.Skip(DeviceId{6});   // and this may be waiting for its turn
  meeting.Skip(DeviceId{99});  // whoever that is
  EXPECT_EQ(Met(meeting), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 7}));
}

TEST_F(PeerMeetingTest, SkipsOneThatIsBeingRelayed) {
  options_.peers = Neighbours(2);
  options_.peers[1].address.clear();
  std::atomic<bool> waiting = false;
  options_.relay = [&](const MeetingPeer&, IncomingModel&, const std::stop_token& stop) {
    waiting = true;
    return UntilStopped(stop);
  };
  PeerMeeting meeting(options_, clock_);
  while (!waiting) std::this_thread::yield();
  meeting.Skip(DeviceId{1});
  EXPECT_EQ(Met(meeting), std::vector<std::uint64_t>{0});
}

TEST_F(PeerMeetingTest, CountsAModelThatHadComeBeforeItsDeviceWent) {
  options_.peers = Neighbours(1);
  std::atomic<bool> came = false;
  options_.direct = [&](const MeetingPeer&, IncomingModel& model, const std::stop_token&) {
    const Status status = Bring(0, model);
    came = true;
    return status;
  };
  PeerMeeting meeting(options_, clock_);
  while (!came) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  meeting.Skip(DeviceId{0});
  EXPECT_EQ(Met(meeting), std::vector<std::uint64_t>{0});
}

TEST_F(PeerMeetingTest, DoesNotCountWhatIsRefused) {
  options_.peers = Neighbours(3);
  PeerMeeting meeting(options_, clock_);
  const auto met = meeting.Collect(
      [](const MeetingPeer& peer, const SharedWeights&) {
        return peer.device == DeviceId{1} ? InvalidArgument("not finite") : OkStatus();
      },
      [] { return false; });
  ASSERT_TRUE(met.ok());
  ASSERT_EQ(met->size(), 2U);
  EXPECT_EQ((*met)[0].device, DeviceId{0});
  EXPECT_EQ((*met)[1].device, DeviceId{2});
}

TEST_F(PeerMeetingTest, EndsWhenTheAssignmentDoes) {
  options_.peers = Neighbours(9);
  options_.direct = [](const MeetingPeer&, IncomingModel&, const std::stop_token& stop) {
    return UntilStopped(stop);
  };
  options_.relay = options_.direct;
  PeerMeeting meeting(options_, clock_);
  const auto met = meeting.Collect([](const MeetingPeer&, const SharedWeights&) { return OkStatus(); },
                                   [] { return true; });
  EXPECT_EQ(met.status().code(), StatusCode::kCancelled);
}

// A neighbour that begins to send and then holds its call open: the coordinator knows another way.
TEST_F(PeerMeetingTest, GivesUpOnACallThatIsStuck) {
  options_.peers = Neighbours(2);
  options_.direct = [&](const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop) {
    if (peer.device == DeviceId{1}) return Bring(1, model);
    const std::vector<float> values = FlatModel(0);
    (void)model.Append(1, std::as_bytes(std::span(values)).first(4));
    return UntilStopped(stop);
  };
  PeerMeeting meeting(options_, clock_);
  auto collecting = std::async(std::launch::async, [&] { return Met(meeting); });
  while (collecting.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout) {
    clock_.Advance(std::chrono::seconds(5));
  }
  EXPECT_EQ(collecting.get(), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(relayed_, 1);
}

TEST(IncomingModel, IsFilledOverTheBorderOfItsArrays) {
  IncomingModel model(3, 2);
  const std::vector<float> values = {1, 2, 3, 4, 5};
  const ByteSpan bytes = std::as_bytes(std::span(values));
  EXPECT_TRUE(*model.Append(7, bytes.first(5)));
  EXPECT_TRUE(*model.Append(7, bytes.subspan(5, 9)));
  EXPECT_FALSE(model.complete());
  EXPECT_FALSE(model.Append(7, bytes).ok());
  EXPECT_TRUE(*model.Append(7, bytes.subspan(14)));
  EXPECT_TRUE(model.complete());
  EXPECT_TRUE(std::ranges::equal(model.model().parameters, std::span(values).first(3)));
  EXPECT_TRUE(std::ranges::equal(model.model().statistics, std::span(values).last(2)));
  EXPECT_EQ(model.came(), 40);
}

TEST(IncomingModel, BeginsAnewWhenItIsAnother) {
  IncomingModel model(2, 0);
  const std::vector<float> values = {1, 2};
  const ByteSpan bytes = std::as_bytes(std::span(values));
  EXPECT_TRUE(*model.Append(1, bytes.first(4)));
  EXPECT_FALSE(*model.Append(2, bytes.last(4)));
  EXPECT_EQ(model.filled(), 0U);
  EXPECT_TRUE(*model.Append(2, bytes));
  EXPECT_TRUE(model.complete());
}

// The two ends of the way by the coordinator, which only passes on.
class RelayTest : public ::testing::Test {
 protected:
  void Begin(std::size_t parameters) {
    values_.resize(parameters);
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(i);
    book_.Announce({.id = 5, .peers = {}});
  }
  SharedWeights Offered() const { return {values_, statistics_}; }

  std::vector<float> values_;
  const std::vector<float> statistics_ = {-1, -2, -3};
  OfferBook book_;
  std::atomic<int> asked_ = 0;
};

TEST_F(RelayTest, CarriesAModelInWindows) {
  Begin(200'001);
  RelayDesk* waiting = nullptr;
  RelayPorter porter(book_, [&](const Relayed& relayed, ByteSpan bytes) {
    waiting->Came({relayed.meeting, DeviceId{3}, relayed.offset, relayed.version}, bytes);
    return OkStatus();
  });
  RelayDesk desk(5, [&](const Relay& relay) {
    EXPECT_LE(relay.bytes, kMostRelayBytes);
    ++asked_;
    return porter.Carry(relay);
  });
  waiting = &desk;
  IncomingModel model(200'001, 3);
  auto fetching =
      std::async(std::launch::async, [&] { return desk.Fetch({.device = DeviceId{3}}, model, {}); });
  // It waits for what is in the making.
  while (asked_ == 0) std::this_thread::yield();
  EXPECT_EQ(fetching.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  book_.Offer(5, Offered());
  const Status status = fetching.get();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(std::ranges::equal(model.model().parameters, values_));
  EXPECT_TRUE(std::ranges::equal(model.model().statistics, statistics_));
  EXPECT_EQ(asked_, 4);  // 800,016 bytes
}

TEST_F(RelayTest, SaysSoWhereThereIsNothingToCarry) {
  Begin(4);
  book_.Offer(5, Offered());
  std::promise<std::pair<std::uint64_t, std::size_t>> came;
  RelayPorter porter(book_, [&](const Relayed& relayed, ByteSpan bytes) {
    came.set_value({relayed.meeting, bytes.size()});
    return OkStatus();
  });
  ASSERT_TRUE(porter.Carry({4, DeviceId{1}, 0, 8}).ok());
  EXPECT_EQ(came.get_future().get(), (std::pair<std::uint64_t, std::size_t>{4, 0}));
  came = {};
  ASSERT_TRUE(porter.Carry({5, DeviceId{1}, 24, 8}).ok());  // more than there is
  EXPECT_EQ(came.get_future().get(), (std::pair<std::uint64_t, std::size_t>{5, 0}));
}

TEST_F(RelayTest, EndsWhileItWaits) {
  Begin(4);
  RelayPorter porter(book_, [](const Relayed&, ByteSpan) { return OkStatus(); });
  ASSERT_TRUE(porter.Carry({5, DeviceId{1}, 0, 8}).ok());  // which never comes
  RelayDesk desk(5, [](const Relay&) { return OkStatus(); });
  IncomingModel model(4, 3);
  std::stop_source stop;
  auto fetching = std::async(std::launch::async,
                             [&] { return desk.Fetch({.device = DeviceId{3}}, model, stop.get_token()); });
  desk.Came({4, DeviceId{3}, 0, 1}, std::as_bytes(std::span(statistics_)));  // of another meeting
  desk.Came({5, DeviceId{2}, 0, 1}, std::as_bytes(std::span(statistics_)));  // of another neighbour
  stop.request_stop();
  EXPECT_EQ(fetching.get().code(), StatusCode::kCancelled);
}

// A neighbour may be started anew and have made another model; but not for ever.
TEST_F(RelayTest, BeginsAnewWithAnotherModelAFewTimes) {
  for (const std::uint64_t versions : {2, 100}) {
    std::uint64_t version = 1;
    RelayDesk* waiting = nullptr;
    RelayDesk desk(5, [&](const Relay& relay) {
      if (relay.offset > 0 && version < versions) ++version;
      const std::vector<std::byte> bytes(relay.bytes);
      waiting->Came({5, DeviceId{3}, relay.offset, version}, bytes);
      return OkStatus();
    });
    waiting = &desk;
    IncomingModel model(100'000, 0);
    const Status status = desk.Fetch({.device = DeviceId{3}}, model, {});
    EXPECT_EQ(status.code(), versions == 2 ? StatusCode::kOk : StatusCode::kCorrupt) << status;
  }
}

TEST(OfferBook, LetsNeighboursHaveWhatIsOfferedUntilTheNextMeeting) {
  const std::vector<float> parameters = {1, 2, 3}, statistics = {4};
  const SharedWeights model{parameters, statistics};
  OfferBook book;
  int told = 0;
  book.SetListener([&] { ++told; });
  EXPECT_EQ(book.Look(1), OfferBook::Standing::kOther);
  book.Announce({.id = 1, .peers = {{DeviceId{4}, "pi-4", "", "AB", 0.5}}});
  EXPECT_EQ(book.Look(1), OfferBook::Standing::kAwaited);
  book.Offer(2, model);  // of another
  EXPECT_EQ(book.Look(1), OfferBook::Standing::kAwaited);
  book.Offer(1, model);
  EXPECT_EQ(book.Look(1), OfferBook::Standing::kReady);
  EXPECT_EQ(book.Look(2), OfferBook::Standing::kOther);
  EXPECT_EQ(told, 2);
  EXPECT_EQ(book.bytes(), 16U);
  std::vector<float> read(2);
  const auto version = book.Read(1, 8, std::as_writable_bytes(std::span(read)));
  ASSERT_TRUE(version);
  EXPECT_EQ(read, (std::vector<float>{3, 4}));
  EXPECT_FALSE(book.Read(1, 12, std::as_writable_bytes(std::span(read))));
  EXPECT_FALSE(book.Read(1, SIZE_MAX - 3, std::as_writable_bytes(std::span(read))));
  EXPECT_FALSE(book.Read(2, 0, std::as_writable_bytes(std::span(read))));
  EXPECT_TRUE(book.CheckGuest("pi-4", "AB").ok());
  EXPECT_NE(book.CheckGuest("pi-4", "AC").message().find("another certificate"), std::string::npos);
  EXPECT_NE(book.CheckGuest("pi-5", "AB").message().find("not one of the neighbours"), std::string::npos);
  // Begun again, it is not there before it is offered again; and the same values are the same version.
  book.Announce({.id = 1, .peers = {}});
  EXPECT_FALSE(book.Read(1, 8, std::as_writable_bytes(std::span(read))));
  book.Offer(1, model);
  EXPECT_EQ(book.Read(1, 8, std::as_writable_bytes(std::span(read))), version);
  book.Withdraw();
  EXPECT_EQ(book.Look(1), OfferBook::Standing::kOther);
  EXPECT_FALSE(book.CheckGuest("pi-4", "AB").ok());
}

}  // namespace
}  // namespace tributary::inline protocol
