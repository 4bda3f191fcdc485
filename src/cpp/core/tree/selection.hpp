// Which tensors are asked for, with one rule for each condition, whatever asks: a scan, an index or
// a table. What a name or a directory tells is decided before a file is opened.
//
// All conditions must hold; of several entries of one condition any may match; an empty condition
// restricts nothing. What is not known (an empty text, no number) meets no condition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/description.hpp"

namespace fastdump {

// Both ends are included.
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

using NumberRanges = std::vector<NumberRange>;

// Shell patterns (*, ?, [abc]) for whole names of operators. Names in files have '_' in the place
// of ' ', '.', '/' and '\\', so all five are taken for one: "a.b/c" and "a_b_c" match the same
// names.
class OpNamePatterns {
 public:
  OpNamePatterns() = default;
  OpNamePatterns(const std::vector<std::string>& patterns);  // NOLINT(google-explicit-constructor)
  OpNamePatterns(std::initializer_list<std::string> patterns)
      : OpNamePatterns(std::vector<std::string>(patterns)) {}

  bool empty() const { return as_in_file_names_.empty(); }
  bool match(std::string_view name) const;

 private:
  std::vector<std::string> as_in_file_names_;
};

struct Selection {
  std::vector<std::string> time;  // shell patterns for whole texts
  std::vector<std::string> model;
  std::vector<std::string> op_type;
  std::vector<std::string> dtype;
  OpNamePatterns op_name;
  NumberRanges rank;
  NumberRanges device;
  NumberRanges model_id;
  NumberRanges step;
  NumberRanges index;
  std::vector<Io> io;
  std::vector<Status> status;

  // False if the directory rules out all files in it, whatever they are called.
  bool may_lie_in(const Where& where) const;
  // False if where the file lies and what it is called rule it out, whatever it holds. A table of
  // statistics may be of many operators, which only its rows name.
  bool may_hold(const Where& where, const FileName& name) const;
  bool has_op_type(const std::string& type) const;
  // The header's name is the true one, the file name's its stand-in: either may match.
  bool has_op_name(std::string_view in_header, std::string_view in_file_name) const;
  // Whether there are conditions that only a file which gives a tensor can meet.
  bool restricts_tensors() const { return !io.empty() || !index.empty() || !dtype.empty(); }
  bool has(const TensorDescription& tensor) const;
  bool has(Status wanted) const;
  // Whether reading the elements of a tensor with this status can end with one that is asked for.
  bool may_get(Status described) const;
};

bool contains(const NumberRanges& ranges, std::optional<std::int64_t> number);

}  // namespace fastdump
