#include "tributary/onnx/document.h"

#include <gtest/gtest.h>

#include "tributary/base/wire_writer.h"

namespace tributary::inline onnx {
namespace {

constexpr std::uint32_t kGraph = 7, kNode = 1, kInitializer = 5, kInput = 11, kAttribute = 5, kSubgraph = 6;

std::string Repeated(std::uint32_t field, int count, const WireWriter& message = {}) {
  WireWriter all;
  for (int i = 0; i < count; ++i) all.Message(field, message);
  return all.bytes();
}

std::string Reason(const std::string& bytes) {
  google::protobuf::Arena arena;
  const auto model = ParseOnnx(std::as_bytes(std::span(bytes)), arena);
  return model.ok() ? "fine" : model.status().message();
}

std::string ReasonOfGraph(const std::string& graph) {
  return Reason(WireWriter().Text(kGraph, graph).bytes());
}

TEST(OnnxDocument, IsRefusedWhereBytesAreNotInTheFormat) {
  EXPECT_EQ(ReasonOfGraph(""), "fine");
  EXPECT_EQ(Reason(""), "it has no graph (is this an ONNX file?)");
  const std::string broken =
      "its bytes are not in ONNX's format: it is cut off, damaged or nested too deeply (is this an ONNX "
      "file?)";
  EXPECT_EQ(Reason("\x3a\x07tes"), broken);               // a length beyond the end
  EXPECT_EQ(Reason("\x08\x96"), broken);                  // half a number
  EXPECT_EQ(Reason(std::string("\x00\x01", 2)), broken);  // field 0
  EXPECT_EQ(Reason(std::string(11, '\xff')), broken);     // an endless number
  EXPECT_EQ(Reason(std::string("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)),
            broken);  // 2⁶⁴ − 1 bytes
}

TEST(OnnxDocument, IsBoundedInCounts) {
  const std::string many = "it has more than 100000 nodes, weights, inputs or outputs";
  EXPECT_EQ(ReasonOfGraph(Repeated(kNode, 100'000)), "fine");
  EXPECT_EQ(ReasonOfGraph(Repeated(kNode, 100'001)), many);
  EXPECT_EQ(ReasonOfGraph(Repeated(kInitializer, 100'001)), many);
  EXPECT_EQ(ReasonOfGraph(Repeated(kInput, 100'001)), many);
  const auto node = [](int attributes) {
    return WireWriter().Text(kNode, Repeated(kAttribute, attributes)).bytes();
  };
  EXPECT_EQ(ReasonOfGraph(node(64)), "fine");
  EXPECT_EQ(ReasonOfGraph(node(65)), "a node has more than 64 attributes");
  WireWriter sizes, dimensions;
  for (int i = 0; i < 65; ++i) {
    sizes.Number(1, 1);
    dimensions.Message(1, WireWriter().Number(1, 1));
  }
  EXPECT_EQ(ReasonOfGraph(WireWriter().Message(kInitializer, sizes).bytes()),
            "a tensor has more than 64 dimensions");
  const WireWriter shape = WireWriter().Message(1, WireWriter().Message(2, dimensions));
  EXPECT_EQ(ReasonOfGraph(WireWriter().Message(kInput, WireWriter().Message(2, shape)).bytes()),
            "an input or output has more than 64 dimensions");
}

// Two bytes of a file are a node of hundreds; graphs in attributes of nodes may be nested without end.
TEST(OnnxDocument, IsBoundedInMemoryAndDepth) {
  google::protobuf::Arena arena;
  const std::string file = WireWriter().Text(kGraph, Repeated(kNode, 1'000'000)).bytes();
  EXPECT_EQ(ParseOnnx(std::as_bytes(std::span(file)), arena).status().message(),
            "its 2000004 bytes take too much memory: more than 8 times the size plus 64 MB");
  EXPECT_LT(arena.SpaceAllocated(), 150'000'000U);
  const auto nested = [](int levels) {
    std::string graph;
    for (int i = 0; i < levels; ++i) {
      graph = WireWriter()
                  .Message(kNode, WireWriter().Message(kAttribute, WireWriter().Text(kSubgraph, graph)))
                  .bytes();
    }
    return ReasonOfGraph(graph);
  };
  EXPECT_EQ(nested(8), "fine");
  EXPECT_NE(nested(12).find("nested too deeply"), std::string::npos);
  EXPECT_NE(nested(10'000).find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline onnx
