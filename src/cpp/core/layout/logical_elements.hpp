// The logical elements of a stored tensor: those of the host array, without the padding of private
// formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/layout/host_layout.hpp"

namespace fastdump {

struct LogicalElements {
  HostLayout layout;  // of units
  std::uint64_t n_elements = 0;
  // Elements of fewer than eight bits are moved by the byte.
  std::uint64_t elements_in_unit = 1;
  std::size_t unit_nbytes = 1;

  // How many bytes, from the first stored one on, hold all of them.
  std::uint64_t stored_nbytes() const { return layout.n_stored() * unit_nbytes; }

  // Gathers elements [first, first + n), which begin and end with a unit.
  void gather(const std::byte* stored, std::uint64_t first, std::uint64_t n, std::byte* to) const {
    layout.gather(stored, unit_nbytes, first / elements_in_unit, n / elements_in_unit, to);
  }
};

// The logical elements, of so many bits, of a stored tensor that has this layout; all stored ones,
// padding included, if the layout is an identity. Empty if elements so narrow cannot be moved as
// the layout has them; `why` then says why.
std::optional<LogicalElements> make_logical_elements(HostLayout layout, int bits, std::string& why);

}  // namespace fastdump
