#include "core/formats/description.hpp"

namespace fastdump {

std::string_view to_string(Io io) {
  switch (io) {
    case Io::input:
      return "input";
    case Io::output:
      return "output";
    case Io::buffer:
      return "buffer";
    case Io::space:
      return "space";
  }
  return {};
}

std::string_view to_string(FileKind kind) {
  switch (kind) {
    case FileKind::standard:
      return "standard";
    case FileKind::version_1:
      return "version_1";
    case FileKind::nano:
      return "nano";
    case FileKind::npy:
      return "npy";
    case FileKind::statistics:
      return "statistics";
  }
  return {};
}

std::string_view to_string(NameKind kind) {
  switch (kind) {
    case NameKind::standard:
      return "operator";
    case NameKind::op_debug:
      return "op_debug";
    case NameKind::exception:
      return "exception";
    case NameKind::custom:
      return "custom";
    case NameKind::digits:
      return "digits";
    case NameKind::statistics:
      return "statistics";
    case NameKind::mapping:
      return "mapping";
    case NameKind::npy:
    case NameKind::converted:
      return "converted";
    case NameKind::core:
      return "core";
    case NameKind::unknown:
      return "unknown";
  }
  return {};
}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::truncated:
      return "truncated";
    case Status::absent:
      return "absent";
    case Status::size_mismatch:
      return "size_mismatch";
    case Status::unsupported:
      return "unsupported";
    case Status::malformed:
      return "malformed";
    case Status::unreadable:
      return "unreadable";
    case Status::changed:
      return "changed";
  }
  return {};
}

}  // namespace fastdump
