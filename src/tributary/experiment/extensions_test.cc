#include "tributary/experiment/extensions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

class Nobody : public Sampler {
 public:
  SamplingPlan Plan(const SamplingProblem&, const SamplerScene&) const override { return {}; }
};

StatusOr<std::unique_ptr<Stream>> NoStream(const StreamScene&) { return Unavailable("no stream"); }

Extensions Two() {
  Extensions extensions;
  EXPECT_TRUE(extensions.AddSampler("turns", std::make_shared<Nobody>()).ok());
  EXPECT_TRUE(extensions.AddStream("rush-hour", NoStream).ok());
  return extensions;
}

constexpr std::string_view kSplit = R"(
schema = 1
[experiment]
name = "e"
rounds = 1
[model]
name = "mlp"
[data]
set = "glyphs"
split = "iid"
[[fleet.group]]
name = "g"
count = 2
compute = "1GMAC/s"
uplink = "1Mbit/s"
[train]
method = "split"
learning-rate = 0.1
[sampling]
method = "turns"
)";
constexpr std::string_view kStreams = R"(
schema = 1
[experiment]
name = "e"
rounds = 1
[model]
name = "mlp"
[data]
set = "glyphs"
split = "iid"
[[fleet.group]]
name = "g"
count = 2
compute = "1GMAC/s"
uplink = "1Mbit/s"
[train]
method = "sync-sgd"
learning-rate = 0.1
[stream]
kind = "rush-hour:3"
)";

TEST(Extensions, RefuseNamesThatAreTakenOrAreNone) {
  Extensions extensions = Two();
  const auto sampler = std::make_shared<Nobody>();
  const auto refused = [](const Status& status, const char* why) {
    EXPECT_NE(status.message().find(why), std::string::npos) << status;
  };
  refused(extensions.AddSampler("turns", sampler), "there is a sampler 'turns' already");
  refused(extensions.AddSampler("ugs", sampler), "there is a sampler 'ugs' already");
  refused(extensions.AddSampler("a b", sampler), "allowed in its name");
  refused(extensions.AddSampler("none", nullptr), "is null");
  refused(extensions.AddStream("rush-hour", NoStream), "there is a stream 'rush-hour' already");
  refused(extensions.AddStream("kafka", NoStream), "there is a stream 'kafka' already");
  refused(extensions.AddStream("", NoStream), "allowed in its name");
  refused(extensions.AddStream("none", nullptr), "is null");
  const auto nowhere = [](const PartitionScene&) -> StatusOr<Partition> { return Unavailable("nowhere"); };
  refused(extensions.AddPartitioner({"iid", nowhere}), "there is a partitioner 'iid' already");
  refused(extensions.AddPartitioner({"submodular", nowhere}), "there is a partitioner 'submodular' already");
  refused(extensions.AddPartitioner({"a b", nowhere}), "allowed in its name");
  const auto nothing = [](const Shape&, std::int64_t, bool) -> StatusOr<Graph> { return Unavailable(""); };
  refused(extensions.AddNetwork({"cnn", "", {}, 0, nothing}), "there is a network 'cnn' already");
  refused(extensions.AddNetwork({"none", "", {}, 0, nullptr}), "is null");
  const auto empty = [](const std::filesystem::path&) -> StatusOr<TrainTest> { return Unavailable(""); };
  refused(extensions.AddDataset({"glyphs", "", empty}), "there is a data set 'glyphs' already");
  refused(extensions.AddDataset({"a/b", "", empty}), "allowed in its name");
  EXPECT_EQ(extensions.SamplerNames(), std::vector<std::string>{"turns"});
  EXPECT_EQ(extensions.StreamNames(), std::vector<std::string>{"rush-hour"});
}

TEST(Extensions, AreFoundByExperimentsAndWrittenBack) {
  const Extensions extensions = Two();
  const auto split = ReadExperimentText(kSplit, {"e.toml", {}}, {}, extensions);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->sampling.own, extensions.FindSampler("turns"));
  EXPECT_NE(FormatExperiment(*split).find("method = \"turns\""), std::string::npos);
  const auto streams = ReadExperimentText(kStreams, {"e.toml", {}}, {}, extensions);
  ASSERT_TRUE(streams.ok()) << streams.status();
  EXPECT_EQ(streams->stream.own->argument, "3");
  const std::string text = FormatExperiment(*streams);
  EXPECT_NE(text.find("kind = \"rush-hour:3\""), std::string::npos);
  const auto again = ReadExperimentText(text, {"as-run", {}}, {}, extensions);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FormatExperiment(*again), text);
}

TEST(Extensions, APartitionerIsChosenByItsNameAndFollowsItsKeys) {
  Extensions extensions = Two();
  const auto nowhere = [](const PartitionScene&) -> StatusOr<Partition> { return Unavailable("nowhere"); };
  ASSERT_TRUE(extensions.AddPartitioner({"zipf", nowhere, {"alpha"}}).ok());
  const auto read = [&](std::string_view split) {
    std::string text(kSplit);
    text.replace(text.find("\"iid\""), 5, split);
    return ReadExperimentText(text, {"e.toml", {}}, {}, extensions);
  };
  const auto experiment = read("{ kind = \"zipf\", alpha = 2 }");
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  ASSERT_NE(experiment->data.split.own, nullptr);
  EXPECT_EQ(experiment->data.split.own->name, "zipf");
  const std::string text = FormatExperiment(*experiment);
  EXPECT_NE(text.find("\"zipf\""), std::string::npos) << text;
  const auto again = ReadExperimentText(text, {"as-run", {}}, {}, extensions);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FormatExperiment(*again), text);
  EXPECT_EQ(read("\"iid\"")->data.split.own, nullptr);
  EXPECT_NE(read("{ kind = \"zipf\", shards-per-device = 2 }").status().message().find("shards-per-device"),
            std::string::npos);
  const std::vector<std::string> unknown = {"data.split=zipf"};
  EXPECT_NE(ReadExperimentText(kSplit, {"e.toml", {}}, unknown, Two())
                .status()
                .message()
                .find("unknown split 'zipf'"),
            std::string::npos);
}

TEST(Extensions, NetworksAndDataSetsAreChosenByTheirNames) {
  Extensions extensions = Two();
  const auto build = [](const Shape& input, std::int64_t classes, bool) {
    GraphBuilder b("tiny", input);
    b.Add("fc", Linear{classes}, {b.Add("flatten", Flatten{}, {0})});
    return std::move(b).Build();
  };
  ASSERT_TRUE(extensions.AddNetwork({"tiny", "", {1, 2, 2}, 2, build}).ok());
  ASSERT_TRUE(extensions.AddNetwork({"tiny-2", "", {1, 2, 2}, 2, build}).ok());
  const auto draw = [](const std::filesystem::path&) -> StatusOr<TrainTest> {
    return Unavailable("no samples");
  };
  ASSERT_TRUE(extensions.AddDataset({"noise", "", draw}).ok());
  const std::vector<std::string> set = {"model.name=tiny", "data.set=noise"};
  const auto experiment = ReadExperimentText(kSplit, {"e.toml", {}}, set, extensions);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  ASSERT_NE(experiment->model.own, nullptr);
  EXPECT_EQ(experiment->model.own->name, "tiny");
  ASSERT_NE(experiment->data.own, nullptr);
  EXPECT_EQ(experiment->data.own->name, "noise");
  const std::string text = FormatExperiment(*experiment);
  const auto again = ReadExperimentText(text, {"as-run", {}}, {}, extensions);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FormatExperiment(*again), text);

  const auto message = [](const auto& result) { return result.status().message(); };
  const std::vector<std::string> typo = {"model.name=tini"};
  const auto unknown = ReadExperimentText(kSplit, {"e.toml", {}}, typo, extensions);
  EXPECT_NE(message(unknown).find("did you mean 'tiny'?"), std::string::npos) << unknown.status();
  EXPECT_NE(message(ReadExperimentText(text, {"as-run", {}}, {}, Two())).find("unknown"), std::string::npos);
}

TEST(Extensions, AreUnknownToAProgramWithoutThem) {
  const auto message = [](std::string_view text, std::vector<std::string> set, const Extensions& extensions) {
    return ReadExperimentText(text, {"e.toml", {}}, set, extensions).status().message();
  };
  EXPECT_NE(message(kSplit, {}, {}).find("unknown sampling method 'turns'"), std::string::npos);
  EXPECT_NE(message(kStreams, {}, {}).find("this program has no streams of its own"), std::string::npos);
  EXPECT_NE(message(kStreams, {"stream.kind=rush-hours"}, Two()).find("did you mean 'rush-hour'?"),
            std::string::npos);
}

TEST(Extensions, AStreamOfOnesOwnLeavesNoRoomForOthers) {
  const auto message = [](std::string_view text, std::vector<std::string> set) {
    return ReadExperimentText(text, {"e.toml", {}}, set, Two()).status().message();
  };
  EXPECT_NE(
      message(kSplit, {"stream.kind=rush-hour"}).find("leave out stream-rate, stream-programme and [stream]"),
      std::string::npos);
  EXPECT_NE(message(kStreams, {"stream.recorded-speed=2"}).find("recorded-speed"), std::string::npos);
  EXPECT_NE(message(kStreams, {"train.method=federated", "train.local-epochs=1"}).find("no epochs"),
            std::string::npos);
  EXPECT_NE(message(kStreams, {"injection.devices=0.5", "injection.share=0.5"}).find("stream.kind"),
            std::string::npos);
  EXPECT_NE(
      message(kStreams, {"fleet.group.g.stream-rate=5/s", "fleet.group.g.stream-programme=stop:1s,repeat"})
          .find("leave out stream-programme"),
      std::string::npos);
}

}  // namespace
}  // namespace tributary::inline experiment
