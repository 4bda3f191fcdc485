#include "core/formats/file_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/decimal.hpp"

namespace fastdump {
namespace {

constexpr std::string_view kConvertedSuffixes[] = {".npy", ".bin", ".pt", ".json"};
constexpr std::pair<std::string_view, Io> kConvertedIo[] = {
    {"input", Io::input},   {"output", Io::output}, {"INPUT", Io::input},
    {"OUTPUT", Io::output}, {"space", Io::space},   {"l1buffer", Io::buffer},
};

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

// The name of a dump itself.
std::optional<FileName> parse_dump(std::string_view name) {
  if (auto file = parse_custom(name)) return file;
  if (auto file = parse_exception(name)) return file;
  return parse_standard(name);
}

std::optional<Io> parse_converted_io(std::string_view text) {
  const auto found = std::ranges::find(kConvertedIo, text, &std::pair<std::string_view, Io>::first);
  return found == std::end(kConvertedIo) ? std::nullopt : std::optional(found->second);
}

// {node}-{target} before the io, [{position in a list}.]{time} after the index: so saves what runs
// an FX graph node by node. The time, YYYYMMDDHHMMSS and microseconds, is more than 64 bits hold;
// it is kept as the YYYYMMDDHHMMSSmmm of exception dumps.
FileName parse_fx_node(std::string_view node, std::string_view rest) {
  constexpr std::size_t kTimeDigits = 20;
  constexpr std::size_t kKeptDigits = 17;
  const std::string_view time = rest.substr(rest.rfind('.') + 1);  // npos + 1 is 0
  const std::size_t dash = node.find('-');
  FileName file;
  if (time.size() != kTimeDigits || !is_decimal(time) || dash == std::string_view::npos)
    return file;
  file.timestamp = parse_decimal(time.substr(0, kKeptDigits));
  file.op_name = node.substr(0, dash);
  file.op_type = node.substr(dash + 1);
  return file;
}

// {dump}.{io}.{index}[.{anything}]{suffix}
std::optional<FileName> parse_converted(std::string_view name) {
  const NameKind kind = name.ends_with(".npy") ? NameKind::npy : NameKind::converted;
  if (!remove_any_suffix(name, kConvertedSuffixes)) return std::nullopt;
  std::optional<FileName> first;
  for (std::size_t dot = name.find('.', 1); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    std::string_view rest = name.substr(dot + 1);
    const auto io = parse_converted_io(take_first_part(rest));
    const auto index = parse_decimal(take_first_part(rest));
    if (!io || !index) continue;
    const std::string_view dump = name.substr(0, dot);
    const auto of_dump = parse_dump(dump);
    // A name that somebody gave to a custom dump may look like this too.
    if (first && !of_dump) continue;
    first = of_dump ? *of_dump : parse_fx_node(dump, rest);
    first->kind = kind;
    first->io = io;
    first->index = index;
    if (of_dump) break;
  }
  return first;
}

FileName statistics_of(std::string_view dump) {
  FileName file = parse_dump(dump).value_or(FileName{});
  file.kind = NameKind::statistics;
  return file;
}

}  // namespace

FileName parse_file_name(std::string_view name) {
  if (name == "mapping.csv") return of_kind(NameKind::mapping);
  std::string_view stem = name;
  if (remove_suffix(stem, ".csv")) return statistics_of(stem);
  if (auto file = parse_converted(name)) return *std::move(file);
  if (auto file = parse_core(name)) return *std::move(file);
  if (auto file = parse_dump(name)) return *std::move(file);
  if (is_digits_name(name)) return of_kind(NameKind::digits);
  if (remove_any_suffix(stem, kConvertedSuffixes) && is_digits_name(stem)) {
    return of_kind(NameKind::converted);
  }
  return {};
}

}  // namespace fastdump
