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

// Maps the nodes of an ONNX file to nodes of a Graph, in order. For import.cc. The operators are in
// map_layers.cc (with weights), map_windows.cc (pooling, padding) and map_shapes.cc (moving values).

// The order of an activation's values in the file. A Graph has channels first; readers convert other orders.
enum class ValueOrder {
  kChannelsFirst,
  kChannelsLast,      // N × H × W × C
  kFlatChannelsLast,  // a flattened kChannelsLast
};

struct OnnxActivation {
  NodeIndex node = 0;
  ValueOrder order = ValueOrder::kChannelsFirst;
  Shape before_flatten{};  // the shape before flattening, for kFlatChannelsLast
};

// Integers from which a shape is computed; kBatchSize stands for the unknown batch size.
using OnnxShapeNumbers = std::vector<std::int64_t>;
inline constexpr std::int64_t kBatchSize = std::int64_t{-1} << 40;

struct LayerWeights {
  std::vector<float> weight, bias, mean, variance;
};

class OnnxMapping {
 public:
  OnnxMapping(const OnnxGraph& graph, OnnxTensorValues& values, std::string name, Shape input);

  // Sets the file's name of the network's input. A flat input is flattened by the first node.
  void SetInput(std::string_view name, ValueOrder order, bool flat);
  void SetConstant(std::string_view name, const OnnxTensor& tensor) { values_by_name_[name] = &tensor; }

  // Maps the next node, which becomes `layer`.
  Status Map(const OnnxNode& node, const std::string& layer);

  // The node of the graph that produces this output of the file.
  StatusOr<NodeIndex> Output(std::string_view name);

  // Returns the network that ends at `last`. Call it once; nothing can be mapped afterwards.
  StatusOr<Graph> Build(NodeIndex last);
  const std::map<NodeIndex, LayerWeights>& weights() const { return weights_; }
  const std::vector<std::string>& notes() const { return notes_; }

  // Maps the nodes of one operator.
  using Handler = Status (OnnxMapping::*)();
  static const std::map<std::string_view, Handler>& Handlers();

 private:
  using Mapped = std::variant<OnnxActivation, const OnnxTensor*, OnnxShapeNumbers>;

  // Map the current node.
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

  // Errors for a node that cannot be mapped, with its name and operator.
  Status Refuse(const std::string& reason) const;
  Status RefuseAttribute(std::string_view attribute, const std::string& found,
                         const std::string& allowed) const;

  // Inputs of the current node. An omitted optional input is null and has an empty name.
  std::size_t InputCount() const { return static_cast<std::size_t>(node_->input_size()); }
  std::string_view InputName(std::size_t index) const;
  StatusOr<const Mapped*> In(std::size_t index) const;
  StatusOr<OnnxActivation> ActivationAt(std::size_t index) const;  // in any order
  StatusOr<NodeIndex> NodeAt(std::size_t index) const;             // channels first
  const OnnxTensor* ConstantAt(std::size_t index) const;           // null if omitted or computed
  StatusOr<const OnnxTensor*> WeightsAt(std::size_t index, std::string_view what) const;
  StatusOr<OnnxShapeNumbers> NumbersAt(std::size_t index);
  StatusOr<std::vector<std::int64_t>> Axes();  // non-negative and sorted; an attribute or an input
  static bool AreSpatial(const std::vector<std::int64_t>& axes, ValueOrder order);  // height and width
  // The value of a scalar constant; nullopt if omitted.
  StatusOr<std::optional<double>> ScalarAt(std::size_t index);
  // The values of a constant; VectorOf requires `size` of them.
  StatusOr<std::vector<float>> RealsOf(const OnnxTensor& tensor);
  StatusOr<std::vector<float>> VectorOf(const OnnxTensor& tensor, std::int64_t size, std::string_view what);

  // Attributes of the current node.
  const OnnxAttribute* Find(std::string_view name) const;
  std::int64_t Integer(std::string_view name, std::int64_t otherwise) const;
  double Real(std::string_view name, double otherwise) const;
  std::string_view Text(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> Integers(std::string_view name) const;  // empty if absent
  // One number each for height and width; for a signal only the width.
  StatusOr<Extent> ExtentOf(std::string_view name, Extent otherwise) const;

  struct Padding {
    Extent before, after;
    bool symmetric() const { return before == after; }
  };
  // From `pads`, or computed from `auto_pad` for a window of this reach.
  StatusOr<Padding> PaddingOf(NodeIndex input, const Extent& reach, const Extent& stride) const;

  // `pool` completed from the attributes. If `border_counts`, the padding may become a separate node.
  template <typename Pool>
  Status MapPooling(Pool pool, bool border_counts);

  // The results of a node.
  Status FlattenValue(OnnxActivation input);
  NodeIndex Add(Operation operation, std::vector<NodeIndex> inputs, std::string_view suffix = "");
  Status Give(Mapped value);
  Status Give(NodeIndex node) { return Give(OnnxActivation{node}); }
  // If only an addition of a constant with one value per channel reads the current node's output: returns the
  // constant, sets `found`, and skips the addition, whose output the node must give too.
  StatusOr<std::vector<float>> TakeBiasBehind(std::int64_t channels, bool& found);
  Status AddLinear(const OnnxActivation& input, std::vector<float> weight, std::int64_t out,
                   std::vector<float> bias, bool has_bias);
  // Whether asymmetric padding equals a pooling window that is cut off at the end (round_up).
  bool FitsRoundedUp(NodeIndex input, const Extent& kernel, const Extent& stride,
                     const Padding& padding) const;

  const OnnxGraph& graph_;
  OnnxTensorValues& values_;
  GraphBuilder builder_;
  std::map<std::string_view, Mapped> values_by_name_;
  std::map<std::string_view, std::vector<const OnnxNode*>> readers_;
  std::set<const OnnxNode*> done_;  // mapped together with an earlier node
  std::map<NodeIndex, LayerWeights> weights_;
  std::vector<std::string> notes_;
  std::deque<OnnxTensor> made_;  // constants that are not tensors in the file

  const OnnxNode* node_ = nullptr;
  std::string layer_;
};

}  // namespace tributary::inline onnx
