// All that the native tests need: CHECK and CHECK_EQ report what is false and go on, main() returns
// fastdump::tests::exit_code().
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace fastdump::tests {

inline int n_checks = 0;
inline int n_failures = 0;

inline std::ostream& report(const char* file, int line) {
  ++n_failures;
  return std::cerr << file << ":" << line << ": ";
}

template <typename Found, typename Expected>
void check_equal(const char* file, int line, const char* what, const Found& found,
                 const Expected& expected) {
  ++n_checks;
  if (found == expected) return;
  report(file, line) << what << "\n  found    " << found << "\n  expected " << expected << "\n";
}

inline int exit_code() {
  std::cerr << n_checks << " checks, " << n_failures << " failures\n";
  return n_failures == 0 && n_checks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace fastdump::tests

#define CHECK(condition)        \
  (++fastdump::tests::n_checks, \
   (condition) ? void() : void(fastdump::tests::report(__FILE__, __LINE__) << #condition "\n"))

#define CHECK_EQ(found, expected) \
  fastdump::tests::check_equal(__FILE__, __LINE__, #found, found, expected)
