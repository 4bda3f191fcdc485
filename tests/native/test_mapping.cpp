// Files in memory: what is written to them stays there, and what cannot be mapped says why.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/io/mapping.hpp"
#include "file_states.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using Access = Mapping::Access;
using tests::state_of_file;
using tests::TemporaryDirectory;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void test_content(Access access) {
  const TemporaryDirectory directory;
  const std::string content = std::string(10000, 'x') + "end";
  const std::string path = directory.write("file", content);
  const auto mapping = map_file(path, state_of_file(path), access);
  CHECK_EQ(mapping->nbytes(), content.size());
  CHECK(std::memcmp(mapping->data(), content.data(), content.size()) == 0);
  CHECK(mapping->access() == access);
  // A mapping needs neither its file's name nor an open file.
  std::filesystem::remove(path);
  CHECK(mapping->data()[9999] == std::byte{'x'});
}

void test_copy_on_write() {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "abc");
  const auto written = map_file(path, state_of_file(path), Access::copy_on_write);
  const auto other = map_file(path, state_of_file(path), Access::copy_on_write);
  const auto shared = map_file(path, state_of_file(path), Access::read_only);
  const_cast<std::byte*>(written->data())[1] = std::byte{'!'};
  CHECK(written->data()[1] == std::byte{'!'});
  CHECK(other->data()[1] == std::byte{'b'});
  CHECK(shared->data()[1] == std::byte{'b'});
  CHECK_EQ(content_of(path), "abc");
}

void test_empty(Access access) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "");
  const auto mapping = map_file(path, state_of_file(path), access);
  CHECK_EQ(mapping->nbytes(), 0U);
  CHECK_EQ(mapping->error(), 0);
}

// Of the same size, under the same name.
void test_a_file_that_was_replaced() {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "abc");
  const FileState before = state_of_file(path);
  std::filesystem::rename(directory.write("new", "abc"), path);
  bool failed = false;
  try {
    map_file(path, before, Access::read_only);
  } catch (const FileChangedError&) {
    failed = true;
  }
  CHECK(failed);
}

int error_of(const std::string& path) {
  try {
    map_file(path, state_of_file(path), Access::read_only);
  } catch (const SystemError& error) {
    CHECK_EQ(error.path(), path);
    return error.error_number();
  }
  return 0;
}

void test_errors() {
  const TemporaryDirectory directory;
  CHECK_EQ(error_of(directory.path() / "none"), ENOENT);
  CHECK_EQ(error_of(directory.path()), EISDIR);
  CHECK_EQ(error_of("/dev/null"), EINVAL);
  // More than there are addresses for.
  const File file(directory.write("file", "abc").c_str());
  const Mapping mapping(file, std::size_t{1} << 62);
  CHECK(mapping.data() == nullptr);
  CHECK_EQ(mapping.error(), ENOMEM);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  for (const Access access : {Access::read_only, Access::copy_on_write}) {
    test_content(access);
    test_empty(access);
  }
  test_copy_on_write();
  test_a_file_that_was_replaced();
  test_errors();
  return tests::exit_code();
}
