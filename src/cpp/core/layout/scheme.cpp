#include "core/layout/scheme.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/formats/tensor_format.hpp"

namespace fastdump {
namespace {

struct NamedScheme {
  std::string_view format;
  Scheme scheme;
};

constexpr NamedScheme kSchemes[] = {
    {"NCHW", Scheme::plain},
    {"NHWC", Scheme::plain},
    {"HWCN", Scheme::plain},
    {"CHWN", Scheme::plain},
    {"NCDHW", Scheme::plain},
    {"NDHWC", Scheme::plain},
    {"DHWCN", Scheme::plain},
    {"DHWNC", Scheme::plain},
    {"NC", Scheme::plain},
    {"CN", Scheme::plain},
    {"NCL", Scheme::plain},
    {"ND", Scheme::plain},
    {"MD", Scheme::plain},
    // Of a tensor whose format was never decided.
    {"RESERVED", Scheme::plain},
    {"ALL", Scheme::plain},
    {"NULL", Scheme::plain},
    {"NC1HWC0", Scheme::nc1hwc0},
    {"NC1HWC0_C04", Scheme::nc1hwc0},
    {"NDC1HWC0", Scheme::ndc1hwc0},
    {"FRACTAL_Z", Scheme::fractal_z},
    {"FRACTAL_Z_3D", Scheme::fractal_z_3d},
    {"FRACTAL_Z_C04", Scheme::fractal_z_c04},
    {"C1HWNCoC0", Scheme::c1hwncoc0},
    {"FRACTAL_NZ", Scheme::fractal_nz},
    {"FRACTAL_NZ_C0_2", Scheme::fractal_nz},
    {"FRACTAL_NZ_C0_4", Scheme::fractal_nz},
    {"FRACTAL_NZ_C0_8", Scheme::fractal_nz},
    {"FRACTAL_NZ_C0_16", Scheme::fractal_nz},
    {"FRACTAL_NZ_C0_32", Scheme::fractal_nz},
    {"FRACTAL_ZZ", Scheme::fractal_zz},
};

}  // namespace

std::optional<Scheme> find_scheme(std::int64_t format) {
  const std::string_view name = tensor_format_name(format);
  const auto found = std::ranges::find(kSchemes, name, &NamedScheme::format);
  if (found == std::end(kSchemes)) return std::nullopt;
  return found->scheme;
}

}  // namespace fastdump
