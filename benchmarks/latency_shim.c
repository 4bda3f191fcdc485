// A library to be preloaded that makes storage far away: each call to the system that a file server
// would have to answer takes so much longer, for files below a directory only.
//
//   LATENCY_UNDER=/directory
//   LATENCY_US=1000           microseconds a call
//
// Calls: open (also of directories), read, stat by path. What a client knows of an open file, it
// tells at once: fstat and readdir take no longer.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_uchar far[1 << 16];  // by descriptor

static long latency_us(void) {
  static atomic_long known = -1;
  long us = known;
  if (us < 0) {
    const char* text = getenv("LATENCY_US");
    known = us = text == NULL ? 0 : atol(text);
  }
  return us;
}

static void wait_for_server(void) {
  const long us = latency_us();
  const struct timespec time = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&time, NULL);
}

static int is_far(int descriptor) {
  return descriptor >= 0 && descriptor < 1 << 16 && far[descriptor];
}

static int is_far_path(int directory, const char* path) {
  const char* under = getenv("LATENCY_UNDER");
  if (under == NULL || path == NULL) return 0;
  if (path[0] != '/') return is_far(directory);
  const size_t n = strlen(under);
  return strncmp(path, under, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int opened(int descriptor, int is_far_away) {
  if (descriptor >= 0 && descriptor < 1 << 16) far[descriptor] = (unsigned char)is_far_away;
  return descriptor;
}

static void* find(void** real, const char* name) {
  if (*real == NULL) *real = dlsym(RTLD_NEXT, name);
  return *real;
}

#define REAL(name)          \
  static void* found_##name; \
  __typeof__(&name) real = (__typeof__(&name))find(&found_##name, #name)

static int is_with_mode(int flags) { return (flags & (O_CREAT | __O_TMPFILE)) != 0; }

#define OPEN_AT(name)                                              \
  int name(int directory, const char* path, int flags, ...) {      \
    REAL(name);                                                    \
    mode_t mode = 0;                                               \
    if (is_with_mode(flags)) {                                     \
      va_list rest;                                                \
      va_start(rest, flags);                                       \
      mode = va_arg(rest, mode_t);                                 \
      va_end(rest);                                                \
    }                                                              \
    const int is_far_away = is_far_path(directory, path);          \
    if (is_far_away) wait_for_server();                            \
    return opened(real(directory, path, flags, mode), is_far_away); \
  }

#define OPEN(name)                                       \
  int name(const char* path, int flags, ...) {           \
    REAL(name);                                          \
    mode_t mode = 0;                                     \
    if (is_with_mode(flags)) {                           \
      va_list rest;                                      \
      va_start(rest, flags);                             \
      mode = va_arg(rest, mode_t);                       \
      va_end(rest);                                      \
    }                                                    \
    const int is_far_away = is_far_path(-1, path);       \
    if (is_far_away) wait_for_server();                  \
    return opened(real(path, flags, mode), is_far_away); \
  }

OPEN_AT(openat)
OPEN_AT(openat64)
OPEN(open)
OPEN(open64)

ssize_t read(int descriptor, void* buffer, size_t nbytes) {
  REAL(read);
  if (is_far(descriptor)) wait_for_server();
  return real(descriptor, buffer, nbytes);
}

#define READ_AT(name, offset_type)                                                     \
  ssize_t name(int descriptor, void* buffer, size_t nbytes, offset_type offset) {       \
    REAL(name);                                                                         \
    if (is_far(descriptor)) wait_for_server();                                          \
    return real(descriptor, buffer, nbytes, offset);                                    \
  }

READ_AT(pread, off_t)
READ_AT(pread64, off64_t)

DIR* opendir(const char* path) {
  REAL(opendir);
  if (is_far_path(-1, path)) wait_for_server();
  return real(path);
}

#define STAT(name, stat_type)                         \
  int name(const char* path, struct stat_type* status) { \
    REAL(name);                                          \
    if (is_far_path(-1, path)) wait_for_server();        \
    return real(path, status);                           \
  }

STAT(stat, stat)
STAT(lstat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)
