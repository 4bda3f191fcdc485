#include "core/formats/file_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/formats/decimal.hpp"

namespace fastdump {
namespace {

constexpr std::string_view kConvertedSuffixes[] = {".npy", ".bin", ".pt", ".json"};
constexpr std::string_view kConvertedIo[] = {"input", "output", "space", "l1buffer"};

bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

bool remove_any_suffix(std::string_view& text, std::span<const std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](auto suffix) { return remove_suffix(text, suffix); });
}

// The part before the first dot, removed from `text` together with the dot.
std::string_view take_first_part(std::string_view& text) {
  const std::size_t dot = text.find('.');
  const std::string_view part = text.substr(0, dot);
  text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  return part;
}

// The part after the last dot, removed from `text` together with the dot; empty if there is no dot.
std::string_view take_last_part(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view part = text.substr(dot + 1);
  text = text.substr(0, dot);
  return part;
}

std::optional<std::int64_t> parse_timestamp(std::string_view text, std::size_t min_digits,
                                            std::size_t max_digits) {
  if (text.size() < min_digits || text.size() > max_digits) return std::nullopt;
  return parse_decimal(text);
}

bool is_equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// Sources spell it Opdebug.Node_OpDebug and OpDebug.Node_Opdebug.
bool is_op_debug(std::string_view op_type, std::string_view op_name) {
  return (is_equal_ignoring_case(op_type, "opdebug") ||
          is_equal_ignoring_case(op_type, "op_debug")) &&
         (is_equal_ignoring_case(op_name, "node_opdebug") ||
          is_equal_ignoring_case(op_name, "node_op_debug"));
}

// {op_type}.{op_name}.{task}[.{stream}].{timestamp}[.{task_type}.{context}.{thread}.{device}]
// Writers replace the dots in op_type and op_name, so the number of parts tells which are there.
std::optional<FileName> parse_standard(std::string_view name) {
  constexpr std::size_t kMaxParts = 9;
  constexpr std::size_t kFftsParts = 4;
  std::array<std::string_view, kMaxParts> parts;
  std::size_t n = 0;
  while (!name.empty() && n < kMaxParts) parts[n++] = take_first_part(name);
  if (!name.empty() || n < 4 || parts[0].empty() || parts[1].empty()) return std::nullopt;

  const bool has_ffts = n >= 4 + kFftsParts;
  const std::size_t n_common = has_ffts ? n - kFftsParts : n;
  if (n_common > 5) return std::nullopt;
  const bool has_stream = n_common == 5;

  FileName file;
  file.kind = is_op_debug(parts[0], parts[1]) ? NameKind::op_debug : NameKind::standard;
  file.task_id = parse_decimal(parts[2]);
  if (has_stream) file.stream_id = parse_decimal(parts[3]);
  file.timestamp = parse_timestamp(parts[n_common - 1], 13, 17);
  bool is_valid = file.task_id && file.stream_id.has_value() == has_stream && file.timestamp;
  if (has_ffts) {
    file.context_id = parse_decimal(parts[n - 3]);
    file.thread_id = parse_decimal(parts[n - 2]);
    file.device = parse_decimal(parts[n - 1]);
    is_valid =
        is_valid && parse_decimal(parts[n - 4]) && file.context_id && file.thread_id && file.device;
  }
  if (!is_valid) return std::nullopt;
  file.op_type = parts[0];
  file.op_name = parts[1];
  return file;
}

// {dump}.{io}.{index}[.{anything}]{suffix}: the dump's name, empty if the name is not like that.
std::string_view converted_dump(std::string_view name) {
  if (!remove_any_suffix(name, kConvertedSuffixes)) return {};
  for (std::size_t dot = name.find('.', 1); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    std::string_view rest = name.substr(dot + 1);
    const std::string_view io = take_first_part(rest);
    const std::string_view index = take_first_part(rest);
    if (std::ranges::find(kConvertedIo, io) != std::end(kConvertedIo) && is_decimal(index)) {
      return name.substr(0, dot);
    }
  }
  return {};
}

// {name}.custom.{timestamp}
std::optional<FileName> parse_custom(std::string_view name) {
  FileName file;
  file.kind = NameKind::custom;
  file.timestamp = parse_timestamp(take_last_part(name), 17, 17);
  if (!file.timestamp || !remove_suffix(name, ".custom") || name.empty()) return std::nullopt;
  file.op_name = name;
  return file;
}

// {kernel}.{stream}.{task}.{timestamp}. The kernel is no operator: its name stays untold.
std::optional<FileName> parse_stream_task(std::string_view name, NameKind kind,
                                          std::size_t min_timestamp_digits) {
  FileName file;
  file.kind = kind;
  file.timestamp = parse_timestamp(take_last_part(name), min_timestamp_digits, 17);
  file.task_id = parse_decimal(take_last_part(name));
  file.stream_id = parse_decimal(take_last_part(name));
  if (!file.timestamp || !file.task_id || !file.stream_id || name.empty()) return std::nullopt;
  return file;
}

// Also fits the standard pattern, with stream and task exchanged.
std::optional<FileName> parse_exception(std::string_view name) {
  constexpr std::string_view kPrefix = "exception_info.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return parse_stream_task(name, NameKind::exception, 16);
}

std::optional<FileName> parse_core(std::string_view name) {
  if (!remove_suffix(name, ".core")) return std::nullopt;
  return parse_stream_task(name, NameKind::core, 17);
}

bool is_digits_name(std::string_view name) {
  return name.size() >= 10 && name.size() <= 32 && is_decimal(name);
}

FileName of_kind(NameKind kind) {
  FileName file;
  file.kind = kind;
  return file;
}

// A file made from a dump, whose name holds the dump's.
FileName derived(NameKind kind, std::string_view dump) {
  FileName file = parse_standard(dump).value_or(FileName{});
  file.kind = kind;
  return file;
}

}  // namespace

FileName parse_file_name(std::string_view name) {
  if (name == "mapping.csv") return of_kind(NameKind::mapping);
  std::string_view stem = name;
  if (remove_suffix(stem, ".csv")) return derived(NameKind::statistics, stem);
  if (const auto dump = converted_dump(name); !dump.empty()) {
    return derived(NameKind::converted, dump);
  }
  if (auto file = parse_custom(name)) return *std::move(file);
  if (auto file = parse_exception(name)) return *std::move(file);
  if (auto file = parse_core(name)) return *std::move(file);
  if (auto file = parse_standard(name)) return *std::move(file);
  if (is_digits_name(name)) return of_kind(NameKind::digits);
  if (remove_any_suffix(stem, kConvertedSuffixes) && is_digits_name(stem)) {
    return of_kind(NameKind::converted);
  }
  return {};
}

}  // namespace fastdump
