// The data types of a dump's header: number, name, size, and the kernels' encoding if there is one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/element.hpp"

namespace fastdump {

struct DataType {
  int number;                  // in the header of a standard file
  int ge_number;               // in the graph engine's own enumeration; -1: it has none
  std::string_view cann_name;  // the vendor's name without its DT_ prefix: "FLOAT16"
  std::string_view name;       // numpy's or ml_dtypes' name, else cann_name in lower case
  int bits;                    // of one element; 0 if elements have no fixed size
  kernels::Element element;    // none: no documented encoding, described but not reduced
  std::string_view caveat;     // why element is none; empty otherwise
};

// Ordered by number.
std::span<const DataType> data_types();

// nullptr for a number that no source documents.
const DataType* find_data_type(std::int64_t number);
const DataType* find_data_type(std::string_view name);
// By the graph engine's number, which nano files use.
const DataType* find_ge_data_type(std::int64_t number);

}  // namespace fastdump
