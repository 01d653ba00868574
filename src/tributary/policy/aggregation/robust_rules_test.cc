// What holds for every rule that sees all updates at once.
#include "tributary/policy/aggregation/testing_rules.h"

namespace tributary::inline policy {
namespace {

struct RobustRule {
  const char* name;
  std::vector<double> numbers;
};
const RobustRule kRobust[] = {{"trimmed-mean", {0.27}},
                              {"median", {}},
                              {"multi-krum", {0.27}},
                              {"centred-clipping", {1}},
                              {"trusted", {100}}};

class RobustRulesTest : public RuleTest {
 protected:
  // Three of eleven, whose weight is most of all.
  std::vector<TestUpdate> Attacked(int attack) const {
    auto updates = DrawAll(3, 11);
    for (const std::size_t i : {1, 4, 9}) {
      auto& values = updates[i].parameters;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const bool up = attack == 0 || (attack == 1 && k % 2 == 0) || (attack == 2 && (k + i) % 2 == 0);
        values[k] = up ? 1e6F : -1e6F;
      }
      updates[i].weight = 10'000;
    }
    return updates;
  }
  static std::vector<TestUpdate> Honest(std::vector<TestUpdate> updates) {
    std::erase_if(updates, [](const TestUpdate& update) { return update.weight == 10'000; });
    return updates;
  }
};

TEST_F(RobustRulesTest, HostileUpdatesOfAnySizeDoNotMoveTheResultAwayFromTheHonest) {
  for (int attack = 0; attack < 3; ++attack) {
    const auto updates = Attacked(attack);
    const auto honest = Honest(updates);
    const auto mean = MeanOf(honest);
    double spread = 0;
    for (const TestUpdate& update : honest) spread = std::max(spread, Distance(update.parameters, mean));
    for (const auto& [name, numbers] : kRobust) {
      SCOPED_TRACE(std::string(name) + ", attack " + std::to_string(attack));
      const auto found = ResultOf(name, numbers, updates);
      EXPECT_LT(Distance(found, mean), spread);
      // These promise a distance or a length, and no range.
      if (std::string_view(name) == "centred-clipping" || std::string_view(name) == "trusted") continue;
      for (std::size_t k = 0; k < found.size(); ++k) {
        float low = honest[0].parameters[k], high = low;
        for (const TestUpdate& update : honest) {
          low = std::min(low, update.parameters[k]);
          high = std::max(high, update.parameters[k]);
        }
        ASSERT_GE(found[k], low) << k;
        ASSERT_LE(found[k], high) << k;
      }
    }
    EXPECT_GT(Distance(ResultOf("mean", {}, updates), mean), 1000 * spread);
  }
}

TEST_F(RobustRulesTest, AnyOrderOfPiecesAndUpdatesGivesTheSameBits) {
  const auto updates = DrawAll(8, 6);
  Rng rng(1);
  for (const auto& [name, numbers] : kRobust) {
    SCOPED_TRACE(name);
    MemoryStore store;
    const auto aggregate = Make(name, numbers, store);
    struct Part {
      std::size_t update, begin;
    };
    std::vector<Part> parts;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      order.push_back(i);
      for (std::size_t begin = 0; begin < model_.parameters.size; begin += 9999) parts.push_back({i, begin});
    }
    Shuffle(rng, std::span(parts));
    Shuffle(rng, std::span(order));
    const auto stage = [&](std::size_t i, UpdatePiece piece, std::uint64_t work) {
      piece.weight = updates[i].weight;
      ASSERT_TRUE(aggregate->Stage(WorkId{work}, piece).ok());
    };
    for (const Part& part : parts) {
      const std::span<const float> all = updates[part.update].parameters;
      const auto some = all.subspan(part.begin, std::min<std::size_t>(9999, all.size() - part.begin));
      stage(part.update, {UpdatePart::kParameters, part.begin, some}, part.update);
      stage(part.update, {UpdatePart::kParameters, part.begin, some}, part.update + 100);  // to be discarded
    }
    for (const std::size_t i : order) {
      stage(i, {UpdatePart::kStatistics, 0, updates[i].statistics}, i);
      ASSERT_TRUE(aggregate->Commit(WorkId{i}, updates[i].weight).ok());
      ASSERT_TRUE(aggregate->Discard(WorkId{i + 100}).ok());
    }
    for (const UpdatePart part : {UpdatePart::kParameters, UpdatePart::kStatistics}) {
      const auto expected = ResultOf(name, numbers, updates, part);
      EXPECT_EQ(Report(*aggregate, part, 1000), expected);
      EXPECT_EQ(Report(*aggregate, part, 1'000'000), expected);
    }
  }
}

// Counts, and fails when it is told to.
class WatchedStore final : public UpdateStore {
 public:
  Status Append(WorkId work, const UpdatePiece& piece) override { return store_.Append(work, piece); }
  Status ForEach(WorkId work, const std::function<void(const UpdatePiece&)>& visit) override {
    return store_.ForEach(work, visit);
  }
  Status Read(WorkId work, UpdatePart part, std::size_t offset, std::span<float> values) override {
    if (fails) return IoError("the disk is gone");
    largest = std::max(largest, values.size());
    elements += values.size();
    return store_.Read(work, part, offset, values);
  }
  void Remove(WorkId work) override { store_.Remove(work); }

  bool fails = false;
  std::size_t largest = 0, elements = 0;

 private:
  MemoryStore store_;
};

TEST_F(RobustRulesTest, ReadUpdatesInBlocksAndInspectThemOnceARound) {
  const std::size_t size = model_.parameters.size;
  ASSERT_GT(size, 16384U);
  for (const auto& [name, numbers, passes] : {std::tuple("median", std::vector<double>{}, 1U),
                                              {"multi-krum", {0.2}, 2U},
                                              {"centred-clipping", {1}, 4U},
                                              {"trusted", {100}, 2U}}) {
    SCOPED_TRACE(name);
    WatchedStore store;
    const auto aggregate = Make(name, numbers, store);
    for (std::uint64_t round = 1; round <= 2; ++round) {
      aggregate->Begin(1e6);
      store.elements = 0;
      const auto updates = DrawAll(round, 5);
      for (std::size_t i = 0; i < updates.size(); ++i)
        ASSERT_TRUE(aggregate->Take(WorkId{i}, updates[i].pieces()).ok());
      EXPECT_EQ(Report(*aggregate, UpdatePart::kParameters, size), ResultOf(name, numbers, updates));
      EXPECT_EQ(store.elements, passes * 5 * size);
      EXPECT_EQ(store.largest, 16384U);
    }
  }
}

TEST_F(RobustRulesTest, AnUpdateThatCountsLaterIsInspectedToo) {
  const auto updates = DrawAll(2, 6);
  for (const auto& [name, numbers] : kRobust) {
    SCOPED_TRACE(name);
    MemoryStore store;
    const auto aggregate = Make(name, numbers, store);
    for (std::size_t i = 0; i < updates.size(); ++i) {
      ASSERT_TRUE(aggregate->Take(WorkId{i}, updates[i].pieces()).ok());
      EXPECT_EQ(Report(*aggregate), ResultOf(name, numbers, std::span(updates).first(i + 1)));
    }
  }
}

TEST_F(RobustRulesTest, ADiskThatFailsIsReported) {
  for (const auto& [name, numbers] : kRobust) {
    WatchedStore store;
    const auto aggregate = Make(name, numbers, store);
    ASSERT_TRUE(aggregate->Take(WorkId{1}, Draw(1, 1).pieces()).ok());
    std::vector<float> values(10);
    store.fails = true;
    EXPECT_EQ(aggregate->Report(UpdatePart::kParameters, 0, values).code(), StatusCode::kIoError) << name;
    store.fails = false;
    EXPECT_TRUE(aggregate->Report(UpdatePart::kParameters, 0, values).ok()) << name;
  }
}

}  // namespace
}  // namespace tributary::inline policy
