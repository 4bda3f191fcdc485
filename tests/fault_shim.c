// A library to be preloaded that lets one call to the system fail, for files below some directories
// only: Python's own files are none of its business.
//
//   FAULT_UNDER=/directory[:/directory...]   the files
//   FAULT=call:number:error                  which call, from 1, fails how: "read:3:EIO"; "short"
//                                            as an error lets a read or write do half of its work,
//                                            and "every:N" as a number every Nth call fail
//   FAULT_COUNTS=/file                       gets the number of calls of each kind at the end
//
// Calls: open (also of directories), read, stat, map, list (an entry of a directory), write, sync,
// close (of a file that was opened for writing), rename, mkdir.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum Call { OPEN, READ, STAT, MAP, LIST, WRITE, SYNC, CLOSE, RENAME, MKDIR, N_CALLS };
static const char* const kNames[N_CALLS] = {"open",  "read", "stat",  "map",    "list",
                                            "write", "sync", "close", "rename", "mkdir"};
static const struct {
  const char* name;
  int number;
} kErrors[] = {{"EINTR", EINTR},   {"EIO", EIO},       {"ESTALE", ESTALE}, {"ENOSPC", ENOSPC},
               {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}, {"ENOENT", ENOENT}};

static atomic_ulong counts[N_CALLS];
// By descriptor.
enum { WATCHED = 1, WRITTEN = 2 };
static atomic_uchar watched[4096];

static int is_under(const char* path) {
  const char* at = getenv("FAULT_UNDER");
  while (path != NULL && at != NULL && *at != '\0') {
    const size_t n = strcspn(at, ":");
    if (strncmp(path, at, n) == 0 && (path[n] == '/' || path[n] == '\0')) return 1;
    at += n + (at[n] == ':');
  }
  return 0;
}

static int is_watched(int descriptor) {
  return descriptor >= 0 && descriptor < 4096 && watched[descriptor];
}

static int is_written(int descriptor) {
  return descriptor >= 0 && descriptor < 4096 && (watched[descriptor] & WRITTEN) != 0;
}

static void watch(int descriptor, int on) {
  if (descriptor >= 0 && descriptor < 4096) watched[descriptor] = (unsigned char)on;
}

static int opened_for(int flags) {
  return (flags & O_ACCMODE) == O_RDONLY ? WATCHED : WATCHED | WRITTEN;
}

// 0, an errno, or -1: only half of the work is done.
static int fault_of(enum Call call) {
  const unsigned long number = ++counts[call];
  const char* fault = getenv("FAULT");
  if (fault == NULL) return 0;
  const size_t n = strlen(kNames[call]);
  if (strncmp(fault, kNames[call], n) != 0 || fault[n] != ':') return 0;
  fault += n + 1;
  const int every = strncmp(fault, "every:", 6) == 0;
  if (every) fault += 6;
  char* end = NULL;
  const unsigned long wanted = strtoul(fault, &end, 10);
  if (wanted == 0 || (every ? number % wanted != 0 : number != wanted) || *end != ':') return 0;
  for (size_t i = 0; i < sizeof kErrors / sizeof *kErrors; ++i) {
    if (strcmp(end + 1, kErrors[i].name) == 0) return kErrors[i].number;
  }
  return -1;
}

static void* find(void** real, const char* name) {
  if (*real == NULL) *real = dlsym(RTLD_NEXT, name);
  return *real;
}

#define REAL(name) ((__typeof__(&name))find(&real_##name, #name))
// Counts the call, and fails if it is to fail.
#define MAY_FAIL(condition, call, failed)             \
  const int fault = (condition) ? fault_of(call) : 0; \
  if (fault > 0) {                                    \
    errno = fault;                                    \
    return failed;                                    \
  }

static size_t cut(size_t nbytes, int fault) {
  return fault < 0 && nbytes > 1 ? nbytes / 2 : nbytes;
}

#define OPEN_FUNCTION(name)                               \
  static void* real_##name;                               \
  int name(const char* path, int flags, ...) {            \
    va_list arguments;                                    \
    va_start(arguments, flags);                           \
    const mode_t mode = va_arg(arguments, mode_t);        \
    va_end(arguments);                                    \
    const int on = is_under(path);                        \
    MAY_FAIL(on, OPEN, -1)                                \
    const int descriptor = REAL(name)(path, flags, mode); \
    watch(descriptor, on ? opened_for(flags) : 0);        \
    return descriptor;                                    \
  }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

#define OPENAT_FUNCTION(name)                                               \
  static void* real_##name;                                                 \
  int name(int directory, const char* path, int flags, ...) {               \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    const mode_t mode = va_arg(arguments, mode_t);                          \
    va_end(arguments);                                                      \
    const int on = path[0] == '/' ? is_under(path) : is_watched(directory); \
    MAY_FAIL(on, OPEN, -1)                                                  \
    const int descriptor = REAL(name)(directory, path, flags, mode);        \
    watch(descriptor, on ? opened_for(flags) : 0);                          \
    return descriptor;                                                      \
  }
OPENAT_FUNCTION(openat)
OPENAT_FUNCTION(openat64)

// A descriptor is gone even if closing it fails.
static void* real_close;
int close(int descriptor) {
  const int is_output = is_written(descriptor);
  watch(descriptor, 0);
  const int closed = REAL(close)(descriptor);
  MAY_FAIL(is_output, CLOSE, -1)
  return closed;
}

// Duplicates of descriptors; other commands of fcntl take a number, a pointer or nothing.
#define FCNTL_FUNCTION(name)                                                         \
  static void* real_##name;                                                          \
  int name(int descriptor, int command, ...) {                                       \
    va_list arguments;                                                               \
    va_start(arguments, command);                                                    \
    void* const argument = va_arg(arguments, void*);                                 \
    va_end(arguments);                                                               \
    const int result = REAL(name)(descriptor, command, argument);                    \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {                          \
      watch(result, is_watched(descriptor) ? atomic_load(&watched[descriptor]) : 0); \
    }                                                                                \
    return result;                                                                   \
  }
FCNTL_FUNCTION(fcntl)
FCNTL_FUNCTION(fcntl64)

static void* real_opendir;
DIR* opendir(const char* path) {
  const int on = is_under(path);
  MAY_FAIL(on, OPEN, NULL)
  DIR* directory = REAL(opendir)(path);
  if (directory != NULL) watch(dirfd(directory), on);
  return directory;
}

static void* real_closedir;
int closedir(DIR* directory) {
  watch(dirfd(directory), 0);
  return REAL(closedir)(directory);
}

#define READDIR_FUNCTION(name, type)                   \
  static void* real_##name;                            \
  struct type* name(DIR* directory) {                  \
    MAY_FAIL(is_watched(dirfd(directory)), LIST, NULL) \
    return REAL(name)(directory);                      \
  }
READDIR_FUNCTION(readdir, dirent)
READDIR_FUNCTION(readdir64, dirent64)

static void* real_read;
ssize_t read(int descriptor, void* to, size_t nbytes) {
  MAY_FAIL(is_watched(descriptor), READ, -1)
  return REAL(read)(descriptor, to, cut(nbytes, fault));
}

#define PREAD_FUNCTION(name, offset_type)                                     \
  static void* real_##name;                                                   \
  ssize_t name(int descriptor, void* to, size_t nbytes, offset_type offset) { \
    MAY_FAIL(is_watched(descriptor), READ, -1)                                \
    return REAL(name)(descriptor, to, cut(nbytes, fault), offset);            \
  }
PREAD_FUNCTION(pread, off_t)
PREAD_FUNCTION(pread64, off64_t)

// Of several pieces the first one is cut.
static struct iovec cut_vector(const struct iovec* pieces, int fault) {
  struct iovec first = pieces[0];
  first.iov_len = cut(first.iov_len, fault);
  return first;
}

#define PREADV_FUNCTION(name, offset_type)                                              \
  static void* real_##name;                                                             \
  ssize_t name(int descriptor, const struct iovec* pieces, int n, offset_type offset) { \
    MAY_FAIL(is_watched(descriptor), READ, -1)                                          \
    if (fault == 0) return REAL(name)(descriptor, pieces, n, offset);                   \
    const struct iovec first = cut_vector(pieces, fault);                               \
    return REAL(name)(descriptor, &first, 1, offset);                                   \
  }
PREADV_FUNCTION(preadv, off_t)
PREADV_FUNCTION(preadv64, off64_t)

#define PREADV2_FUNCTION(name, offset_type)                                                        \
  static void* real_##name;                                                                        \
  ssize_t name(int descriptor, const struct iovec* pieces, int n, offset_type offset, int flags) { \
    MAY_FAIL(is_watched(descriptor), READ, -1)                                                     \
    if (fault == 0) return REAL(name)(descriptor, pieces, n, offset, flags);                       \
    const struct iovec first = cut_vector(pieces, fault);                                          \
    return REAL(name)(descriptor, &first, 1, offset, flags);                                       \
  }
PREADV2_FUNCTION(preadv2, off_t)
PREADV2_FUNCTION(preadv64v2, off64_t)

static void* real_write;
ssize_t write(int descriptor, const void* from, size_t nbytes) {
  MAY_FAIL(is_watched(descriptor), WRITE, -1)
  return REAL(write)(descriptor, from, cut(nbytes, fault));
}

static void* real_writev;
ssize_t writev(int descriptor, const struct iovec* pieces, int n) {
  MAY_FAIL(is_watched(descriptor), WRITE, -1)
  if (fault == 0) return REAL(writev)(descriptor, pieces, n);
  const struct iovec first = cut_vector(pieces, fault);
  return REAL(writev)(descriptor, &first, 1);
}

#define FSTAT_FUNCTION(name, type)               \
  static void* real_##name;                      \
  int name(int descriptor, struct type* found) { \
    MAY_FAIL(is_watched(descriptor), STAT, -1)   \
    return REAL(name)(descriptor, found);        \
  }
FSTAT_FUNCTION(fstat, stat)
FSTAT_FUNCTION(fstat64, stat64)

#define STAT_FUNCTION(name, type)                  \
  static void* real_##name;                        \
  int name(const char* path, struct type* found) { \
    MAY_FAIL(is_under(path), STAT, -1)             \
    return REAL(name)(path, found);                \
  }
STAT_FUNCTION(stat, stat)
STAT_FUNCTION(stat64, stat64)
STAT_FUNCTION(lstat, stat)
STAT_FUNCTION(lstat64, stat64)

#define FSTATAT_FUNCTION(name, type)                                            \
  static void* real_##name;                                                     \
  int name(int directory, const char* path, struct type* found, int flags) {    \
    MAY_FAIL(path[0] == '/' ? is_under(path) : is_watched(directory), STAT, -1) \
    return REAL(name)(directory, path, found, flags);                           \
  }
FSTATAT_FUNCTION(fstatat, stat)
FSTATAT_FUNCTION(fstatat64, stat64)

#define MMAP_FUNCTION(name, offset_type)                                            \
  static void* real_##name;                                                         \
  void* name(void* where, size_t nbytes, int protection, int flags, int descriptor, \
             offset_type offset) {                                                  \
    MAY_FAIL(is_watched(descriptor), MAP, MAP_FAILED)                               \
    return REAL(name)(where, nbytes, protection, flags, descriptor, offset);        \
  }
MMAP_FUNCTION(mmap, off_t)
MMAP_FUNCTION(mmap64, off64_t)

#define SYNC_FUNCTION(name)                    \
  static void* real_##name;                    \
  int name(int descriptor) {                   \
    MAY_FAIL(is_watched(descriptor), SYNC, -1) \
    return REAL(name)(descriptor);             \
  }
SYNC_FUNCTION(fsync)
SYNC_FUNCTION(fdatasync)

static void* real_rename;
int rename(const char* from, const char* to) {
  MAY_FAIL(is_under(to), RENAME, -1)
  return REAL(rename)(from, to);
}

static void* real_renameat;
int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  MAY_FAIL(is_under(to) || is_watched(to_directory), RENAME, -1)
  return REAL(renameat)(from_directory, from, to_directory, to);
}

static void* real_mkdir;
int mkdir(const char* path, mode_t mode) {
  MAY_FAIL(is_under(path), MKDIR, -1)
  return REAL(mkdir)(path, mode);
}

static void* real_mkdirat;
int mkdirat(int directory, const char* path, mode_t mode) {
  MAY_FAIL(path[0] == '/' ? is_under(path) : is_watched(directory), MKDIR, -1)
  return REAL(mkdirat)(directory, path, mode);
}

__attribute__((destructor)) static void write_counts(void) {
  const char* path = getenv("FAULT_COUNTS");
  if (path == NULL) return;
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  for (int call = 0; call < N_CALLS; ++call) {
    fprintf(file, "%s %lu\n", kNames[call], (unsigned long)counts[call]);
  }
  fclose(file);
}
