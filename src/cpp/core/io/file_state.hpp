// Which file it is, and in which state, as one number.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/io/system.hpp"

namespace fastdump {

// Equal at two moments if, between them, nobody has written to the file, has cut it, or has put
// another in its place. A write through a mapping shows only when the system writes it back.
enum class FileState : std::int64_t {};

FileState state_of(const FileStatus& status);

// Whether the file is as it was before `begin_ns`, as far as its times tell: what was read between
// then and the moment of the status is of one state. Times are those of the file's server, whose
// clock may be somewhat behind.
bool is_unchanged_since(std::int64_t begin_ns, const FileStatus& status);

// The clock that gives files their times ticks once in so many nanoseconds, or more often. Two
// writes within a tick leave a file in what looks like one state.
inline constexpr std::int64_t kClockTickNs = 10'000'000;

// Whether that may have been within the present tick, or the one before.
bool was_written_just_now(const FileStatus& status);

// No errno: a file is not in the state in which it was.
inline constexpr int kFileChanged = -1;

// What is said of such a file.
inline constexpr std::string_view kChangedWhileRead = "the file changed while it was read";
inline constexpr std::string_view kChangedSince = "the file changed after its header was read";
inline constexpr std::string_view kLostMemory = "the file behind an array has become shorter";

}  // namespace fastdump
