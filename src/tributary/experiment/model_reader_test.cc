// [model]: networks that are brought, where they start from and what is frozen; and that it comes back from its own text.

#include <gtest/gtest.h>
#include <unistd.h>

#include "tributary/base/file.h"
#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"
#include "tributary/model/graph_text.h"
#include "tributary/model/initialise.h"
#include "tributary/onnx/network_file.h"

namespace tributary::inline experiment {
namespace {

std::string WithModel(const std::string& lines) {
  std::string text(testing::kLeast);
  const std::string name = "name = \"cnn\"\n";
  return text.replace(text.find(name), name.size(), lines + "\n");
}

class ModelReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    const Model model(BuildZooGraph({"lenet5", Shape{1, 28, 28}, 10}).value());
    FlatBuffer parameters(model.parameters.size), statistics(model.statistics.size);
    InitialiseWeights(model, 1, parameters.span(), statistics.span());
    ASSERT_TRUE(WriteOnnx(folder_ / "net.onnx", model, parameters.span(), statistics.span(), {}).ok());
    graph_ = FormatGraph(model.graph);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  StatusOr<Experiment> Read(const std::string& lines, bool files = true) const {
    return ReadExperimentText(WithModel(lines), {"e.toml", files ? std::optional(folder_) : std::nullopt});
  }
  std::string Refusal(const std::string& lines, bool files = true) const {
    const auto read = Read(lines, files);
    return read.ok() ? "fine" : read.status().message();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("model_reader_" + std::to_string(::getpid()));
  std::string graph_;
};

TEST_F(ModelReaderTest, BringsANetworkThatStandsForItself) {
  const auto read = Read("onnx = \"net.onnx\"\nnew-head = true\nfreeze = [\"conv1\", \"fc1\"]");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model.name, "net");
  ASSERT_NE(read->model.graph, nullptr);
  EXPECT_EQ(read->model.graph->classes(), 10);
  EXPECT_EQ(read->model.weights, (folder_ / "net.onnx").string());
  // As run, it may be read where there are no files: on a device.
  const auto again = ReadExperimentText(FormatExperiment(*read), {"as-run", std::nullopt});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FormatExperiment(*again), FormatExperiment(*read));
  EXPECT_EQ(FormatGraph(*again->model.graph), FormatGraph(*read->model.graph));
  EXPECT_EQ(again->model.freeze, (std::vector<std::string>{"conv1", "fc1"}));
  EXPECT_TRUE(again->model.new_head);
  EXPECT_EQ(Read("onnx = \"net.onnx\"\nname = \"mine\"")->model.name, "mine");
}

TEST_F(ModelReaderTest, TakesWeightsForANetworkOfTheZoo) {
  const auto read = Read("name = \"resnet18\"\nweights = \"r.safetensors\"\nstem = \"imagenet\"");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model.weights, (folder_ / "r.safetensors").string());
  EXPECT_EQ(read->model.graph, nullptr);
}

TEST_F(ModelReaderTest, SaysWhatIsWrong) {
  EXPECT_EQ(Refusal("onnx = \"other.onnx\"").substr(0, 24), "e.toml:6: model.onnx: ca");
  EXPECT_EQ(Read("onnx = \"other.onnx\"").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Refusal("onnx = \"net.onnx\"", false),
            "e.toml:6: model.onnx: this experiment may not name files; write the network into it, as graph");
  EXPECT_NE(Refusal("onnx = 3").find("allowed: an ONNX file"), std::string::npos);
  EXPECT_NE(Refusal("graph = \"{}\"").find("model.graph: a network is described by JSON"), std::string::npos);
  EXPECT_NE(
      Refusal("name = \"other\"\ngraph = '" + graph_ + "'").find("the network in graph is called \"lenet5\""),
      std::string::npos);
  EXPECT_EQ(Refusal("graph = '" + graph_ + "'", false), "fine");
  EXPECT_NE(Refusal("onnx = \"net.onnx\"\nstem = \"cifar\"").find("a built-in network"), std::string::npos);
  EXPECT_NE(Refusal("name = \"cnn\"\nnew-head = true").find("onnx or weights"), std::string::npos);
  EXPECT_NE(Refusal("name = \"cnn\"\nfreeze = \"conv1\"").find("allowed: a list of layers"),
            std::string::npos);
  EXPECT_NE(Refusal("name = \"cnn\"\nfreeze = [3]").find("allowed: a list of layers"), std::string::npos);
  EXPECT_NE(Refusal("name = \"cnn\"\nfreeze = [\"conv1\"]\ncompute-as = \"resnet18\"")
                .find("leave one of them out"),
            std::string::npos);
  EXPECT_NE(Refusal("onnx = \"net.onnx\"\ninput = \"3x3\"").find("is not a shape"), std::string::npos);
  EXPECT_NE(Refusal("name = \"cnn\"\nonnxx = \"net.onnx\"").find("did you mean"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "broken.onnx", "garbage").ok());
  EXPECT_NE(Refusal("onnx = \"broken.onnx\"").find("broken.onnx: "), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline experiment
