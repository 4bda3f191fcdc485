// The logical elements of a stored tensor: those of the host array, without the padding of private
// formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/formats/description.hpp"
#include "core/layout/host_layout.hpp"

namespace fastdump {

struct LogicalElements {
  HostLayout layout;  // of units
  std::uint64_t n_elements = 0;
  // Elements of fewer than eight bits are moved by the byte.
  std::uint64_t elements_in_unit = 1;
  std::size_t unit_nbytes = 1;

  // From the first stored byte on, what holds all of them.
  std::uint64_t stored_nbytes() const { return layout.n_stored() * unit_nbytes; }

  // Elements [first, first + n), which begin and end with a unit.
  void gather(const std::byte* stored, std::uint64_t first, std::uint64_t n, std::byte* to) const {
    layout.gather(stored, unit_nbytes, first / elements_in_unit, n / elements_in_unit, to);
  }
};

// Those of a stored tensor that has this layout, as the layout has them: all stored ones too, if
// the layout is an identity. Empty if elements of this type cannot be moved so, then `why` says
// why.
std::optional<LogicalElements> make_logical_elements(HostLayout layout, kernels::Element element,
                                                     std::string& why);

// nullptr where all stored elements are logical; or where they cannot be told apart, then `why`
// says why. The tensor is reducible.
std::unique_ptr<const LogicalElements> find_logical_elements(const TensorDescription& tensor,
                                                             std::string& why);

// Notes that the statistics of a tensor are those of all that is stored, and why.
void note_padding(TensorDescription& tensor, const std::string& why);

}  // namespace fastdump
