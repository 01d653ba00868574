#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tributary/model/graph.h"
#include "tributary/onnx/document.h"

namespace tributary::inline onnx {

// Maps the nodes of an ONNX file onto those of a Graph, one after the other. For import.cc; the operators are in
// map_layers.cc (with weights), map_windows.cc (pooling, padding) and map_shapes.cc (what only moves values).

// The order in which the file has an activation's values. Nodes of a Graph have channels first; where the file says
// otherwise, whoever reads the value must set it right.
enum class ValueOrder {
  kChannelsFirst,
  kChannelsLast,      // N × H × W × C
  kFlatChannelsLast,  // flattened from that
};

struct OnnxActivation {
  NodeIndex node = 0;
  ValueOrder order = ValueOrder::kChannelsFirst;
  Shape before_flatten{};  // of the value that was flattened, where the order is kFlatChannelsLast
};

// Whole numbers that a shape is put together from; the size of the batch is not known and stands as kBatchSize.
using OnnxShapeNumbers = std::vector<std::int64_t>;
inline constexpr std::int64_t kBatchSize = std::int64_t{-1} << 40;

struct LayerWeights {
  std::vector<float> weight, bias, mean, variance;
};

class OnnxMapping {
 public:
  OnnxMapping(const OnnxGraph& graph, OnnxTensorValues& values, std::string name, Shape input);

  // The network's input has this name in the file. A flat one becomes so by the first node.
  void SetInput(std::string_view name, ValueOrder order, bool flat);
  void SetConstant(std::string_view name, const OnnxTensor& tensor) { values_by_name_[name] = &tensor; }

  // The next node, which is to be called `layer`.
  Status Map(const OnnxNode& node, const std::string& layer);

  // The node of the graph that gives this output of the file.
  StatusOr<NodeIndex> Output(std::string_view name);

  // The network that ends there, once. Nothing is mapped afterwards.
  StatusOr<Graph> Build(NodeIndex last);
  const std::map<NodeIndex, LayerWeights>& weights() const { return weights_; }
  const std::vector<std::string>& notes() const { return notes_; }

  // What maps the nodes of an operator.
  using Handler = Status (OnnxMapping::*)();
  static const std::map<std::string_view, Handler>& Handlers();

 private:
  using Mapped = std::variant<OnnxActivation, const OnnxTensor*, OnnxShapeNumbers>;

  // The node at hand.
  Status MapConv();
  Status MapGemm();
  Status MapMatMul();
  Status MapBatchNorm();
  Status MapGroupNorm();
  Status MapMaxPool();
  Status MapAveragePool();
  Status MapGlobalAveragePool();
  Status MapReduceMean();
  Status MapPad();
  Status MapRelu();
  Status MapClip();
  Status MapDropout();
  Status MapAdd();
  Status MapConcat();
  Status MapFlatten();
  Status MapReshape();
  Status MapSqueeze();
  Status MapTranspose();
  Status MapSoftmax();
  Status MapIdentity();
  Status MapConstant();
  Status MapShape();
  Status MapGather();
  Status MapUnsqueeze();

  // What they say when the node cannot be mapped: with its name and operator.
  Status Refuse(const std::string& reason) const;
  Status RefuseAttribute(std::string_view attribute, const std::string& found,
                         const std::string& allowed) const;

  // Inputs of the node at hand. An optional one that is left out is null, and has no name.
  std::size_t InputCount() const { return static_cast<std::size_t>(node_->input_size()); }
  std::string_view InputName(std::size_t index) const;
  StatusOr<const Mapped*> In(std::size_t index) const;
  StatusOr<OnnxActivation> ActivationAt(std::size_t index) const;  // in any order
  StatusOr<NodeIndex> NodeAt(std::size_t index) const;             // channels first
  const OnnxTensor* ConstantAt(std::size_t index) const;           // null where it is left out or computed
  StatusOr<const OnnxTensor*> WeightsAt(std::size_t index, std::string_view what) const;
  StatusOr<OnnxShapeNumbers> NumbersAt(std::size_t index);
  StatusOr<std::vector<std::int64_t>> Axes();  // an attribute at first, an input later; from 0, sorted
  static bool AreSpatial(const std::vector<std::int64_t>& axes, ValueOrder order);  // height and width
  // The one value of a constant; nothing where it is left out.
  StatusOr<std::optional<double>> ScalarAt(std::size_t index);
  // The values of a constant, and of one that must be a list of so many.
  StatusOr<std::vector<float>> RealsOf(const OnnxTensor& tensor);
  StatusOr<std::vector<float>> VectorOf(const OnnxTensor& tensor, std::int64_t size, std::string_view what);

  // Attributes of the node at hand.
  const OnnxAttribute* Find(std::string_view name) const;
  std::int64_t Integer(std::string_view name, std::int64_t otherwise) const;
  double Real(std::string_view name, double otherwise) const;
  std::string_view Text(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> Integers(std::string_view name) const;  // empty where there is none
  // One number for each of height and width; of a signal the width alone.
  StatusOr<Extent> ExtentOf(std::string_view name, Extent otherwise) const;

  struct Padding {
    Extent before, after;
    bool symmetric() const { return before == after; }
  };
  // From `pads`, or as `auto_pad` says for a window of this reach.
  StatusOr<Padding> PaddingOf(NodeIndex input, const Extent& reach, const Extent& stride) const;

  // `pool` with what else the node says of it. Where the border counts it may become a node of its own.
  template <typename Pool>
  Status MapPooling(Pool pool, bool border_counts);

  // What the node gives.
  Status FlattenValue(OnnxActivation input);
  NodeIndex Add(Operation operation, std::vector<NodeIndex> inputs, std::string_view suffix = "");
  Status Give(Mapped value);
  Status Give(NodeIndex node) { return Give(OnnxActivation{node}); }
  // Where the output of the node at hand is read by nothing but an addition of one constant for each of so many channels:
  // that constant, and the addition's output is given, too, by whatever the node gives.
  StatusOr<std::vector<float>> TakeBiasBehind(std::int64_t channels, bool& found);
  Status AddLinear(const OnnxActivation& input, std::vector<float> weight, std::int64_t out,
                   std::vector<float> bias, bool has_bias);
  // A window that is not padded alike on both sides: as one that may be cut off at its end, if that is the same.
  bool FitsRoundedUp(NodeIndex input, const Extent& kernel, const Extent& stride,
                     const Padding& padding) const;

  const OnnxGraph& graph_;
  OnnxTensorValues& values_;
  GraphBuilder builder_;
  std::map<std::string_view, Mapped> values_by_name_;
  std::map<std::string_view, std::vector<const OnnxNode*>> readers_;
  std::set<const OnnxNode*> done_;  // mapped together with one before
  std::map<NodeIndex, LayerWeights> weights_;
  std::vector<std::string> notes_;
  std::deque<OnnxTensor> made_;  // of constants that are no tensors in the file

  const OnnxNode* node_ = nullptr;
  std::string layer_;
};

}  // namespace tributary::inline onnx
