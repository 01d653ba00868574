// Devices that choose how much of the network they train, as far as the exchange has a say in it.
#include "tributary/fleet/protocol/testing_exchange_fixture.h"

namespace tributary::inline protocol {
namespace {

class KeptExchangeTest : public ExchangeTest {
 protected:
  void ChooseFrom(std::size_t menu) {
    options_.menu = menu;
    exchange_ = std::make_unique<Exchange>(options_, clock_);
  }
  // A round of one device that says so; what becomes of what it says, and of it.
  Status Round(const std::string& name, std::optional<TrainedShare> kept,
               std::optional<Duration> deadline = {}) {
    const auto device = NewDevice(name);
    Ask({device->number()}, TrainAssignment{}, deadline);
    work_ = device->AwaitWork();
    EXPECT_TRUE(device->Push(work_.ticket, UpdateOf(*model_, device->number(), work_.round.value)).ok());
    const Status status =
        device->Send(Answer{.ticket = work_.ticket, .samples = 3, .loss = 1, .kept = std::move(kept)});
    const auto results = Answers();
    EXPECT_TRUE(results.ok()) << results.status();
    report_ = results->devices[0];
    EXPECT_EQ(report_.outcome, status.ok() ? Outcome::kApplied : Outcome::kRefused);
    return status;
  }

  Assignment work_;
  DeviceReport report_;
};

TEST_F(KeptExchangeTest, ReportsWhatWasChosen) {
  ChooseFrom(4);
  ASSERT_TRUE(Round("a", TrainedShare{0.25, {3, 0, 1}}).ok());
  ASSERT_TRUE(report_.kept);
  EXPECT_EQ(report_.kept->macs, 0.25);
  EXPECT_EQ(report_.kept->entries, (std::vector<std::uint32_t>{3, 0, 1}));
}

TEST_F(KeptExchangeTest, RefusesWhatThereIsNotToChoose) {
  ChooseFrom(4);
  EXPECT_NE(Round("a", TrainedShare{0.25, {3, 4, 1}}).message().find("sub-network 4; the menu has 4"),
            std::string::npos);
  EXPECT_NE(Round("b", std::nullopt).message().find("does not say how much"), std::string::npos);
  EXPECT_FALSE(Round("c", TrainedShare{0.25, {}}).ok());
  ChooseFrom(0);
  EXPECT_NE(Round("e", TrainedShare{1, {0}}).message().find("was asked for all of it"), std::string::npos);
}

TEST_F(KeptExchangeTest, SaysHowMuchTimeIsLeft) {
  ChooseFrom(2);
  ASSERT_TRUE(Round("a", TrainedShare{1, {1}}, std::chrono::seconds(7)).ok());
  EXPECT_EQ(work_.time_left_seconds, 7);
  ASSERT_TRUE(Round("b", TrainedShare{1, {1}}).ok());
  EXPECT_EQ(work_.time_left_seconds, 0);
}

}  // namespace
}  // namespace tributary::inline protocol
