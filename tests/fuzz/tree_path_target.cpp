// What the directories of a file tell.
#include "core/formats/tree_path.hpp"

#include "target.hpp"

namespace fastdump::fuzz {

void run(std::span<const std::byte> input) {
  const auto end = std::ranges::find(input, std::byte{'\n'});
  const auto n = static_cast<std::size_t>(end - input.begin());
  const Exact above(input.first(n));
  const Exact below(input.subspan(n));
  const Where where = parse_tree_path(above.text(), below.text());
  for (const auto& number : {where.rank, where.device, where.model_id, where.step}) {
    CHECK(!number || *number >= 0);
  }
  const std::string path = std::string(above.text()) + "/" + std::string(below.text());
  CHECK(path.find(where.time) != std::string::npos);
  CHECK(path.find(where.model) != std::string::npos);
  CHECK(where.time.empty() || where.time.size() == 13 || where.time.size() == 14);
  // Slashes and dots that mean nothing tell nothing.
  const Where again = parse_tree_path("/./" + std::string(above.text()) + "/",
                                      "./" + std::string(below.text()) + "/.//");
  CHECK(where.rank == again.rank && where.time == again.time && where.device == again.device);
  CHECK(where.model == again.model && where.model_id == again.model_id);
  CHECK(where.step == again.step);
}

std::vector<std::string> seeds() {
  return {"/data\n20240101120000/0/model/1/2",
          "/data/worldsize8_global_rank3\n20240101120000/0",
          "/\nworldsize8_global_rank3/graph_1/2",
          "\n3/20240101120000/0/net/1/2",
          "/x/rank_1/20240101120000\nstep_3/20240101120001/4",
          "/x\nrank_1/net/0/5",
          "/\nextra-info/data-dump/2"};
}

}  // namespace fastdump::fuzz
