// Compiles and links with every compiler that fastdump is built and tested with, and with no older
// one: a compiler is asked, as its name and its version say nothing of the library beside it.
#include <charconv>
#include <concepts>

#if defined(__clang__) ? __clang_major__ < 14 : defined(__GNUC__) && __GNUC__ < 11
#error "too old"
#endif

template <std::floating_point T>
T parsed(const char* begin, const char* end) {
  T value{};
  std::from_chars(begin, end, value);
  return value;
}

int main() {
  const char text[] = {'1', '.', '5'};
  return parsed<double>(text, text + sizeof text) == 1.5 ? 0 : 1;
}
