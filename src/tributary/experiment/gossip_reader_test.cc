// [gossip] and the splits that go with it: what they read, what they refuse, and that they come back from their own text.

#include <gtest/gtest.h>

#include "tributary/base/file.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kLeast;

// The least experiment under gossip, with these lines in [gossip], in [data] and anywhere before [train].
std::string WithGossip(std::string_view lines, std::string_view data = "", std::string_view more = "") {
  std::string text(kLeast);
  text.replace(text.find("\"federated\""), 11, "\"gossip\"");
  text.insert(text.find("[[fleet.group]]"), data);
  return text + std::string(more) + "[gossip]\n" + std::string(lines);
}

StatusOr<Experiment> ReadText(std::string_view text, std::optional<std::filesystem::path> folder = {}) {
  return ReadExperimentText(text, {"e.toml", folder});
}

void ExpectGossipRefusal(std::string_view text, std::string_view words) {
  const auto read = ReadText(text);
  ASSERT_FALSE(read.ok()) << words;
  EXPECT_NE(read.status().message().find(words), std::string::npos) << read.status();
}

Experiment ThereAndBack(std::string_view text, std::optional<std::filesystem::path> folder = {}) {
  const auto read = ReadText(text, folder);
  EXPECT_TRUE(read.ok()) << read.status();
  const auto again = ReadText(FormatExperiment(*read));  // which may not name files
  EXPECT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FormatExperiment(*again), FormatExperiment(*read));
  return *again;
}

TEST(GossipReader, ComesBackFromItsOwnText) {
  EXPECT_EQ(ThereAndBack(WithGossip("")).gossip.mixing, MixingOptions{});
  const GossipChoice matcha =
      ThereAndBack(WithGossip("algorithm = \"matcha\"\nbudget = 0.3\ntopology = \"complete\"\n"
                              "batches = \"speed\""))
          .gossip;
  EXPECT_EQ(matcha.mixing.rule, MixingRule::kMatcha);
  EXPECT_EQ(matcha.mixing.budget, 0.3);
  EXPECT_EQ(matcha.mixing.topology.kind, TopologyKind::kComplete);
  EXPECT_EQ(matcha.batches, BatchSizes::kSpeed);
  const auto random =
      ThereAndBack(WithGossip("topology = { kind = \"erdos-renyi\", probability = 0.9 }")).gossip.mixing;
  EXPECT_EQ(random.topology.probability, 0.9);
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const auto edges =
      ThereAndBack(WithGossip("topology = { kind = \"edges\", edges = [[0, 1], [1, 2], [2, 3]] }"));
  EXPECT_EQ(edges.gossip.mixing.topology.edges, (Edges{{0, 1}, {1, 2}, {2, 3}}));
  const std::filesystem::path folder = ::testing::TempDir();
  ASSERT_TRUE(WriteFileAtomically(folder / "gossip_reader_test.txt", "# a star\n0 1\n0 2\n0 3\n").ok());
  const auto named =
      ThereAndBack(WithGossip("topology = { kind = \"edges\", edges = \"gossip_reader_test.txt\" }"), folder);
  EXPECT_EQ(named.gossip.mixing.topology.edges, (Edges{{0, 1}, {0, 2}, {0, 3}}));
}

TEST(GossipReader, ReadsShards) {
  const Experiment plain = ThereAndBack(WithGossip("", "split = \"submodular\"\nevaluate = \"train\"\n"));
  EXPECT_EQ(plain.data.shards, ShardChoice{});
  EXPECT_EQ(plain.data.evaluate, MeasuredOn::kTrain);
  const auto all =
      ThereAndBack(WithGossip("",
                              "split = { kind = \"submodular\", sizes = \"equal\", features = \"pca:8\","
                              " objective = \"graph-cut\", choice = \"raw\", width = 2.5 }\n"))
          .data.shards;
  EXPECT_EQ(all, (ShardChoice{false, "pca:8", PartitionObjective::kGraphCut, BlockChoice::kRaw, 2.5}));
  EXPECT_FALSE(ThereAndBack(WithGossip("", "split = { kind = \"stratified\", sizes = \"equal\" }\n"))
                   .data.shards.by_speed);
}

TEST(GossipReader, RefusesWhatMakesNoSense) {
  ExpectGossipRefusal(WithGossip("algorithm = \"dpsgd\""), "did you mean 'd-psgd'");
  ExpectGossipRefusal(WithGossip("budget = 0.3"), "algorithm = \"matcha\"");
  ExpectGossipRefusal(WithGossip("algorithm = \"matcha\"\nbudget = 0"), "budget");
  ExpectGossipRefusal(WithGossip("topology = { kind = \"ring\", probability = 0.5 }"), "erdos-renyi");
  ExpectGossipRefusal(WithGossip("topology = { kind = \"edges\", edges = [[0, 1], [2, 3]] }"),
                      "gossip.topology");
  ExpectGossipRefusal(WithGossip("topology = { kind = \"edges\", edges = [[0, 9], [1, 2], [2, 3]] }"), "9");
  ExpectGossipRefusal(WithGossip("topology = { kind = \"edges\", edges = [[0, -1]] }"),
                      "pairs of device numbers");
  ExpectGossipRefusal(WithGossip("topology = { kind = \"edges\", edges = \"a.txt\" }"), "may not name files");
  ExpectGossipRefusal(WithGossip("topology = { kind = \"edges\" }"), "who may meet whom");
  ExpectGossipRefusal(std::string(kLeast) + "[gossip]\nalgorithm = \"d-psgd\"\n",
                      "train.method = \"gossip\"");
  ExpectGossipRefusal(WithGossip("", "split = { kind = \"iid\", sizes = \"speed\" }\n"), "stratified");
  ExpectGossipRefusal(WithGossip("", "split = { kind = \"submodular\", features = \"pca\" }\n"), "features");
  ExpectGossipRefusal(WithGossip("", "split = { kind = \"stratified\", choice = \"raw\" }\n"), "submodular");
}

TEST(GossipReader, RefusesDecisionsThatHaveNoMeaningThere) {
  ExpectGossipRefusal(WithGossip("", "[fleet]\ndeadline = \"5s\"\n"), "leave out fleet.deadline");
  ExpectGossipRefusal(WithGossip("", "[fleet]\nparticipation = 2\n"), "leave out fleet.participation");
  ExpectGossipRefusal(WithGossip("", "", "[compression]\nkind = \"int8\"\n"), "leave out [compression]");
  ExpectGossipRefusal(WithGossip("", "", "[transfers]\nstrategy = \"optimal\"\n"), "leave out [transfers]");
  // Not that it needs a deadline, which would be refused next.
  ExpectGossipRefusal(WithGossip("", "", "[dropout]\nmethod = \"fjord\"\n"), "leave out [dropout]");
  ExpectGossipRefusal(WithGossip("", "[fleet]\ndeadline = \"5s\"\n", "[dropout]\nmethod = \"fjord\"\n"),
                      "leave out [dropout]");
  ExpectGossipRefusal(WithGossip("", "", "prox = 0.1\n"), "method = \"federated\"");
  ExpectGossipRefusal(WithGossip("", "", "server-optimiser = \"adam\"\n"), "method = \"federated\"");
  ExpectGossipRefusal(WithGossip("", "", "[stream]\nbatch = \"stream-rate\"\n"), "method = \"sync-sgd\"");
}

}  // namespace
}  // namespace tributary::inline experiment
