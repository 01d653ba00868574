// Networks for signals: samples of C x 1 x T, convolved along time alone.

#include "tributary/model/zoo/families.h"

namespace tributary::zoo {
namespace {

NodeIndex Block(GraphBuilder& b, const std::string& number, std::int64_t channels, std::int64_t kernel,
                NodeIndex x) {
  x = b.Add("conv" + number,
            Conv{.out_channels = channels, .kernel = {1, kernel}, .padding = {0, kernel / 2}, .bias = false},
            {x});
  // Not batch norm: each device sees one person, and the batches of slow streams are small, so the statistics of a
  // device's batch say more about the person than about the network.
  x = b.Add("norm" + number, GroupNorm{8}, {x});
  x = b.Add("relu" + number, Relu{}, {x});
  return b.Add("pool" + number, MaxPool{{1, 2}, {1, 2}}, {x});
}

}  // namespace

StatusOr<Graph> HarCnn(const Shape& input, std::int64_t classes) {
  GraphBuilder b("har-cnn", input);
  NodeIndex x = Block(b, "1", 32, 9, 0);
  x = Block(b, "2", 64, 5, x);
  x = Block(b, "3", 96, 3, x);
  x = b.Add("pool", GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("dropout", Dropout{0.3}, {x});
  b.Add("fc", Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace tributary::zoo
