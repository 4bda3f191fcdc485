// Orders of the axes N, C, D, H and W, as texts: "NCHW". What the origin shape of a tensor may
// mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fastdump {

// Whether a format's name is such an order, of four or five axes.
bool is_axis_order(std::string_view name);

// The orders that a framework gives shapes of `n_axes` dimensions in, most common first; with
// `in_3d` of tensors that have D. Shapes of fewer dimensions than the tensor has axes leave axes
// out: then all that keep the order of a longer one.
std::vector<std::string> axis_orders(std::size_t n_axes, bool in_3d);

// The parts of one order that have `n_axes` axes.
std::vector<std::string> parts_of_order(std::string_view order, std::size_t n_axes);

}  // namespace fastdump
