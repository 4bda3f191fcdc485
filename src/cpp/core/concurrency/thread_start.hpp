// Threads are started here alone, and only where there is memory for them.
#pragma once

#include <functional>
#include <thread>

namespace fastdump {

// Whether the limit on the process's address space (RLIMIT_AS), if it has one, leaves room for one
// more thread: its stack, the memory that the C library sets aside for it, and some for all others.
bool has_room_for_thread();

// A thread that calls work(), which must not throw. Throws std::system_error where the system
// starts none, or where there is no room for it.
//
// The C library ends the process where it finds no memory for the variables of a thread, which it
// makes at their first use: the first exception, for one. Where the address space has a limit, the
// new thread has made them when this returns.
std::thread start_thread(std::function<void()> work);

}  // namespace fastdump
