#pragma once

#include <span>

#include "tributary/base/status.h"
#include "tributary/model/operation.h"
#include "tributary/model/shape.h"

namespace tributary {

// The shape of an operation's output for inputs of these shapes, or why they do not fit it. Total: any numbers in the
// operation are answered with a shape or a Status, never with an overflow.
StatusOr<Shape> InferShape(const Operation& operation, std::span<const Shape> inputs);

}  // namespace tributary
