// What each condition of a selection admits.

#include <cstdint>
#include <limits>
#include <string>

#include "check.hpp"
#include "core/dtype.hpp"
#include "core/tree/selection.hpp"

namespace fastdump {
namespace {

void test_numbers() {
  CHECK(contains({}, std::nullopt));
  CHECK(!contains({{0, 9}}, std::nullopt));
  const NumberRanges ranges = {{3, 5}, {9, 9}};
  for (const std::int64_t number : {3, 4, 5, 9}) CHECK(contains(ranges, number));
  for (const std::int64_t number : {-3, 2, 6, 8, 10}) CHECK(!contains(ranges, number));
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(contains({{0, kMax}}, kMax));
  CHECK(!contains({{5, 3}}, 4));
}

void test_op_names() {
  for (const std::string pattern : {"a.b/c*", "a_b_c*", "a b\\c*"}) {
    const OpNamePatterns wanted = {pattern};
    for (const std::string name : {"a.b/c", "a_b_c", "a b\\cd", "a/b.c.d"}) {
      CHECK(wanted.match(name));
    }
    CHECK(!wanted.match("a.b"));
    CHECK(!wanted.match("x.a.b.c"));
    CHECK(!wanted.match(""));
  }
  CHECK(OpNamePatterns({"x", "layers.[0-2]/*"}).match("layers_1_Add"));
  CHECK(!OpNamePatterns({"x", "layers.[0-2]/*"}).match("layers_3_Add"));
  CHECK(OpNamePatterns({"a\\*"}).match("a*"));
  CHECK(!OpNamePatterns({"a\\*"}).match("ab"));
  CHECK(OpNamePatterns().match(""));
  Selection selection;
  selection.op_name = {"layers.2/Add"};
  CHECK(selection.has_op_name("layers.2/Add", "1234567890"));
  CHECK(selection.has_op_name("", "layers_2_Add"));
  CHECK(!selection.has_op_name("", ""));
}

void test_tensors() {
  TensorDescription tensor;
  tensor.io = Io::output;
  tensor.index = 2;
  tensor.dtype = find_data_type(std::int64_t{1});
  CHECK(tensor.dtype != nullptr);
  Selection selection;
  CHECK(!selection.restricts_tensors());
  CHECK(selection.has(tensor));
  selection.io = {Io::input, Io::output};
  selection.index = {{0, 2}};
  selection.dtype = {std::string(tensor.dtype->name).substr(0, 3) + "*"};
  CHECK(selection.restricts_tensors());
  CHECK(selection.has(tensor));
  tensor.index = 3;
  CHECK(!selection.has(tensor));
  tensor.index = 2;
  tensor.io = Io::space;
  CHECK(!selection.has(tensor));
  tensor.io = Io::input;
  tensor.dtype = nullptr;
  CHECK(!selection.has(tensor));
  selection.dtype = {"*"};
  CHECK(!selection.has(tensor));
}

void test_statuses() {
  Selection selection;
  CHECK(selection.has(Status::malformed));
  selection.status = {Status::absent};
  CHECK(selection.has(Status::absent));
  CHECK(!selection.has(Status::ok));
  CHECK(!selection.may_get(Status::ok));
  // Reading can find that the file ends early, or fail.
  selection.status = {Status::truncated};
  CHECK(selection.may_get(Status::ok));
  selection.status = {Status::unreadable};
  CHECK(selection.may_get(Status::ok));
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_numbers();
  fastdump::test_op_names();
  fastdump::test_tensors();
  fastdump::test_statuses();
  return fastdump::tests::exit_code();
}
