// Which files and tensors a scan is asked for. What a name or a directory tells is decided before a
// file is opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/description.hpp"

namespace fastdump {

struct Selection {
  // An empty list restricts nothing; of several entries any may match.
  std::vector<std::string> op_type;  // glob patterns, as the shell's
  std::vector<std::string> op_name;
  std::vector<std::string> time;
  std::vector<std::string> model;
  std::vector<std::int64_t> model_id;
  std::vector<std::int64_t> step;
  std::vector<std::int64_t> rank;
  std::vector<std::int64_t> device;
  std::vector<Io> tensor;

  // False if the directory rules out all files in it, whatever they are called.
  bool may_lie_in(const Where& where) const;
  // False if where the file lies and what it is called rule it out, whatever it holds. A table of
  // statistics may be of many operators, which only its rows name.
  bool may_hold(const Where& where, const FileName& name) const;
  bool has_op_type(const std::string& type) const;
  // The header's name is the true one, the file name's its stand-in: either may match.
  bool has_op_name(const std::string& in_header, const std::string& in_file_name) const;
  bool has(Io io) const;
};

}  // namespace fastdump
