#include "core/layout/axis_order.hpp"

#include <algorithm>
#include <span>

namespace fastdump {
namespace {

constexpr std::string_view k2d[] = {"NCHW", "NHWC", "HWCN", "CHWN"};
constexpr std::string_view k3d[] = {"NCDHW", "NDHWC", "DHWCN", "DHWNC"};

}  // namespace

bool is_axis_order(std::string_view name) {
  return std::ranges::find(k2d, name) != std::end(k2d) ||
         std::ranges::find(k3d, name) != std::end(k3d);
}

std::vector<std::string> parts_of_order(std::string_view order, std::size_t n_axes) {
  std::vector<std::string> parts;
  for (unsigned kept = 0; kept < 1U << order.size(); ++kept) {
    std::string part;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if ((kept >> i & 1U) != 0) part += order[i];
    }
    if (part.size() == n_axes) parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<std::string> axis_orders(std::size_t n_axes, bool in_3d) {
  std::vector<std::string> orders;
  for (const std::string_view order : in_3d ? std::span(k3d) : std::span(k2d)) {
    for (std::string& part : parts_of_order(order, n_axes)) {
      if (std::ranges::find(orders, part) == orders.end()) orders.push_back(std::move(part));
    }
  }
  return orders;
}

}  // namespace fastdump
