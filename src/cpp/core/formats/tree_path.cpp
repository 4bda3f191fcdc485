#include "core/formats/tree_path.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/decimal.hpp"

// Layouts below the configured dump path, which may lie anywhere:
//
//   {time}/{device}/{model}/{model_id}/{step}         models
//   {time}/{device}                                   single operators
//   worldsize{N}_global_rank{R}/{time}/{device}/...   graph mode
//   worldsize{N}_global_rank{R}/graph_{g}/{step}      FX graphs, node by node
//   {step}/{time}/{device}/...                        MindSpore through acl
//   rank_{r}/{time}/step_{s}[/{time}/{device}/...]    msprobe
//   rank_{r}/{net}/{graph_id}/{iteration}             MindSpore, kernel by kernel
//   {extra-info|dfx}/data-dump/{device}               exceptions
//
// Writers leave out model, model_id and step where the graph has none.

namespace fastdump {
namespace {

using Components = std::span<const std::string_view>;

void append_components(std::string_view path, std::vector<std::string_view>& components) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (!component.empty() && component != ".") components.push_back(component);
  }
}

// "step_3" or "step3".
std::optional<std::int64_t> numbered(std::string_view component, std::string_view word) {
  if (!component.starts_with(word)) return std::nullopt;
  component.remove_prefix(word.size());
  if (component.starts_with('_')) component.remove_prefix(1);
  return parse_decimal(component);
}

std::optional<std::int64_t> global_rank(std::string_view component) {
  constexpr std::string_view kWorld = "worldsize";
  constexpr std::string_view kRank = "_global_rank";
  const std::size_t rank = component.find(kRank);
  if (!component.starts_with(kWorld) || rank == std::string_view::npos ||
      !is_decimal(component.substr(kWorld.size(), rank - kWorld.size()))) {
    return std::nullopt;
  }
  return parse_decimal(component.substr(rank + kRank.size()));
}

// YYYYMMDDHHMMSS; 13 digits where a writer forgot to pad.
bool is_time(std::string_view component) {
  return (component.size() == 13 || component.size() == 14) && is_decimal(component) &&
         (component.starts_with("19") || component.starts_with("20"));
}

bool is_rank_or_step(std::string_view component) {
  return numbered(component, "rank") || global_rank(component) || numbered(component, "step");
}

// Up to the next anchor: what follows that belongs to it.
Components until_anchor(Components components) {
  std::size_t n = 0;
  while (n < components.size() && !is_rank_or_step(components[n])) ++n;
  return components.first(n);
}

// {model}/{model_id}/{step}, any of them missing. Three directories are all of them, so that a
// model may be named by a number; of fewer, only the numbers tell which they are.
void read_model(Components components, Where& where) {
  if (components.empty() || components.size() > 3) return;
  const bool has_model = components.size() == 3 || !parse_decimal(components.front());
  const Components numbers = components.subspan(has_model ? 1 : 0);
  for (const std::string_view number : numbers) {
    if (!parse_decimal(number)) return;
  }
  if (has_model) where.model = components.front();
  if (numbers.empty()) return;
  if (has_model || numbers.size() == 2) where.model_id = parse_decimal(numbers.front());
  if (!has_model || numbers.size() == 2) where.step = parse_decimal(numbers.back());
}

// {time}/{device}/{model}/{model_id}/{step}, from `time` on.
void read_run(Components components, Where& where) {
  where.time = components.front();
  const Components below_time = until_anchor(components.subspan(1));
  if (below_time.empty()) return;
  where.device = parse_decimal(below_time.front());
  if (where.device) read_model(below_time.subspan(1), where);
}

// {net}/{graph_id}/{iteration} and nothing else.
void read_graph(Components below_rank, Where& where) {
  if (below_rank.size() == 3 && until_anchor(below_rank).size() == 3) read_model(below_rank, where);
}

// graph_{g}/{step} and nothing else.
void read_fx_graph(Components below_rank, Where& where) {
  if (below_rank.size() != 2 || !numbered(below_rank[0], "graph")) return;
  where.step = parse_decimal(below_rank[1]);
  if (where.step) where.model = below_rank[0];
}

// The last {extra-info|dfx}/data-dump/{device}.
std::optional<std::int64_t> exception_device(Components components) {
  std::optional<std::int64_t> device;
  for (std::size_t i = 2; i < components.size(); ++i) {
    const bool is_exception_dump =
        (components[i - 2] == "extra-info" || components[i - 2] == "dfx") &&
        components[i - 1] == "data-dump";
    if (is_exception_dump && parse_decimal(components[i])) device = parse_decimal(components[i]);
  }
  return device;
}

}  // namespace

Where parse_tree_path(std::string_view above, std::string_view below) {
  std::vector<std::string_view> path;
  append_components(above, path);
  const std::size_t n_above = path.size();
  append_components(below, path);
  const Components components(path);

  // The deepest anchor of each kind is the dump's; those above it are where somebody stores dumps.
  Where where;
  std::optional<std::size_t> time;
  std::optional<std::size_t> rank;   // "rank_{r}" only
  std::optional<std::size_t> world;  // "worldsize{N}_global_rank{R}"
  std::optional<std::int64_t> step;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (is_time(path[i])) {
      time = i;
    } else if (const auto r = numbered(path[i], "rank")) {
      where.rank = r;
      rank = i;
    } else if (const auto global = global_rank(path[i])) {
      where.rank = global;
      world = i;
    } else if (const auto s = numbered(path[i], "step")) {
      step = s;
    }
  }

  if (time) read_run(components.subspan(*time), where);
  if (rank && (!time || *time < *rank)) read_graph(components.subspan(*rank + 1), where);
  if (world && (!time || *time < *world)) read_fx_graph(components.subspan(*world + 1), where);
  if (!where.device) where.device = exception_device(components);

  // A step directory tells more than the iteration counter of the innermost one.
  if (!step && time && *time > n_above && !is_time(path[*time - 1])) {
    step = parse_decimal(path[*time - 1]);
  }
  if (step) where.step = step;
  return where;
}

}  // namespace fastdump
