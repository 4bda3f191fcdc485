// What locating yields: plain descriptions of files and tensors. None holds payload bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.hpp"
#include "core/note.hpp"

namespace fastdump {

enum class Io : std::uint8_t { input, output, buffer, space };

enum class Status : std::uint8_t {
  ok,
  truncated,      // the file ends early: what is there is reduced
  absent,         // described, but its bytes were never written
  size_mismatch,  // declared size and shape disagree: the smaller of the two is reduced
  unsupported,    // no element encoding
  malformed,      // the file gives no tensor: its bytes are not a dump's
  unreadable,     // the file gives no tensor: the system would not hand over its bytes
  changed,        // the file gives no tensor: it was written to, or cut, while it was read
};

std::string_view to_string(Io io);
std::string_view to_string(Status status);

struct TensorDescription {
  Io io = Io::input;
  std::uint32_t index = 0;
  std::int64_t data_type = 0;       // as stored
  const DataType* dtype = nullptr;  // nullptr: buffers, spaces and unknown numbers
  std::int64_t format = -1;         // low byte of what is stored; -1: buffers and spaces
  std::int64_t sub_format = 0;
  std::vector<std::int64_t> shape;  // storage shape; -1 is an unknown dimension
  std::vector<std::int64_t> origin_shape;
  std::int64_t original_format = -1;  // perhaps that of origin_shape; -1: not told
  std::uint64_t nbytes = 0;           // as declared
  std::uint64_t address = 0;          // device address, informative
  std::uint32_t arg_index = 0;        // exception dumps: slot in the kernel's argument array
  std::uint32_t input_type = 0;       // exception dumps: what an argument is, see argument_kind()
  std::uint64_t offset = 0;           // of the payload in the file
  std::uint64_t n_elements = 0;       // whole elements that lie in the file and can be reduced
  Status status = Status::ok;
  Note note;
};

// Buffers and spaces are bytes without a type.
inline bool is_typed(const TensorDescription& tensor) {
  return tensor.io == Io::input || tensor.io == Io::output;
}

// Whether there are elements, perhaps none, that statistics can be of.
inline bool is_reducible(const TensorDescription& tensor) {
  return tensor.status != Status::absent && tensor.dtype != nullptr &&
         tensor.dtype->element != kernels::Element::none;
}

// The framework's operator that an output stems from.
struct OriginalOp {
  std::size_t tensor = 0;  // index into FileDescription::tensors
  std::string name;
  std::uint32_t output_index = 0;
};

// A tensor that is one thread's part of an FFTS+ operator's; `shape` is then that of the part.
struct TensorSlice {
  std::size_t tensor = 0;  // index into FileDescription::tensors
  std::vector<std::int64_t> lower;
  std::vector<std::int64_t> higher;      // exclusive
  std::vector<std::int64_t> full_shape;  // of the whole tensor
};

// What a file turned out to be, whatever it is called.
enum class FileKind : std::uint8_t {
  standard,    // version 2: length, header, payloads
  version_1,   // one message that holds the payloads
  nano,        // TLV records, payloads
  npy,         // an array, converted from a dump
  statistics,  // CSV: no tensor, but its statistics
};

std::string_view to_string(FileKind kind);

struct FileDescription {
  FileKind kind = FileKind::standard;
  std::string version;
  std::uint64_t dump_time = 0;  // microseconds since 1970
  std::string op_name;          // as in the header; may contain '/'
  std::string dfx_message;
  std::vector<std::pair<std::string, std::string>> attrs;
  std::uint64_t header_nbytes = 0;  // without the eight bytes of the length
  std::vector<TensorDescription> tensors;
  std::vector<OriginalOp> original_ops;  // in the order of their tensors; not every output has one
  std::vector<TensorSlice> slices;       // in the order of their tensors
  bool fortran_order = false;            // npy: the first index varies fastest
  Note header_note;                      // about the header: what of it is cut
  Note note;                             // about the file as a whole: trailing bytes, missing bytes
};

// What a file's name tells.
enum class NameKind : std::uint8_t {
  // {op_type}.{op_name}.{task}[.{stream}].{timestamp}[.{task_type}.{context}.{thread}.{device}]
  standard,
  op_debug,    // Opdebug.Node_OpDebug....
  exception,   // exception_info.{stream}.{task}.{timestamp}
  custom,      // {name}.custom.{timestamp}
  digits,      // an over-long name replaced by its hash, not found in mapping.csv
  statistics,  // a dump's name + ".csv", or statistic.csv
  mapping,     // mapping.csv
  npy,         // {dump}.{input|output}.{i}[....].npy: a converted tensor that says what it is
  converted,   // {dump}.{input|output|space|l1buffer}.{i}[....].{bin|pt|json}: one that does not
  core,        // an ELF core of an exception dump
  unknown,     // only the content can tell
};

// What users read: "operator", "op_debug", ...
std::string_view to_string(NameKind kind);

struct FileName {
  NameKind kind = NameKind::unknown;
  std::string op_type;
  std::string op_name;
  std::optional<std::int64_t> task_id;
  std::optional<std::int64_t> stream_id;
  std::optional<std::int64_t> timestamp;
  std::optional<std::int64_t> context_id;
  std::optional<std::int64_t> thread_id;
  std::optional<std::int64_t> device;  // the last part of an FFTS+ name
  std::optional<Io> io;                // the one tensor that a converted file holds
  std::optional<std::int64_t> index;

  // A file with such a name always gets at least one row.
  bool is_dump() const {
    return kind == NameKind::standard || kind == NameKind::op_debug ||
           kind == NameKind::exception || kind == NameKind::custom || kind == NameKind::digits ||
           kind == NameKind::npy || (kind == NameKind::statistics && timestamp.has_value());
  }
};

// What a file's directories tell; empty where they do not.
struct Where {
  std::optional<std::int64_t> rank;
  std::string time;  // YYYYMMDDHHMMSS as written
  std::optional<std::int64_t> device;
  std::string model;
  std::optional<std::int64_t> model_id;
  std::optional<std::int64_t> step;
};

}  // namespace fastdump
