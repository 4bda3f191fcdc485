// Reads bytes and does nothing with them: as fast as a reader can be on this machine. All functions
// return how many bytes they have read, or -errno.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef O_DIRECT
#define O_DIRECT 0  // macOS has none
#endif

enum { kMaxThreads = 1024, kPageBytes = 4096, kChunkBytes = 4 << 20, kFilesAtOnce = 16 };

struct Chunk {
  int fd;
  long long begin;
  long long end;
};

struct Work {
  const struct Chunk* chunks;
  const char* const* paths;
  long long end;  // number of chunks or of paths
  size_t buffer_bytes;
  atomic_llong next;  // chunk or path
  atomic_llong n_read;
  atomic_int error;
};

static long long smaller(long long a, long long b) { return a < b ? a : b; }

// Threads take chunks of files and read them in pieces as large as the buffer.
static void* read_chunks(void* argument) {
  struct Work* work = argument;
  void* buffer = aligned_alloc(kPageBytes, work->buffer_bytes);
  long long i;
  while ((i = atomic_fetch_add(&work->next, 1)) < work->end) {
    const struct Chunk chunk = work->chunks[i];
    ssize_t n = 1;
    for (long long at = chunk.begin; at < chunk.end && n > 0; at += n) {
      // A whole buffer even where the file ends before: O_DIRECT reads no part of a block.
      const long long left = chunk.begin + kChunkBytes - at;
      n = pread(chunk.fd, buffer, (size_t)smaller(left, (long long)work->buffer_bytes), at);
      if (n < 0) work->error = errno;
      if (n > 0) work->n_read += n;
    }
    if (n <= 0) break;
  }
  free(buffer);
  return NULL;
}

// Threads take a few files, and open, read and close each; a file fits into the buffer.
static void* read_each(void* argument) {
  struct Work* work = argument;
  void* buffer = aligned_alloc(kPageBytes, work->buffer_bytes);
  long long first;
  while ((first = atomic_fetch_add(&work->next, kFilesAtOnce)) < work->end) {
    const long long last = smaller(first + kFilesAtOnce, work->end);
    long long n_read = 0;
    for (long long i = first; i < last; ++i) {
      const int fd = open(work->paths[i], O_RDONLY | O_CLOEXEC);
      const ssize_t n = fd < 0 ? -1 : read(fd, buffer, work->buffer_bytes);
      if (n < 0) work->error = errno;
      if (n > 0) n_read += n;
      if (fd >= 0) close(fd);
    }
    work->n_read += n_read;
  }
  free(buffer);
  return NULL;
}

// The calling thread is one of `n_threads`.
static long long run(void* (*read_some)(void*), struct Work* work, int n_threads) {
  pthread_t threads[kMaxThreads];
  int n_started = 0;
  while (n_started < smaller(n_threads, kMaxThreads) - 1) {
    const int error = pthread_create(&threads[n_started], NULL, read_some, work);
    if (error != 0) {
      work->error = error;
      break;
    }
    ++n_started;
  }
  read_some(work);
  for (int i = 0; i < n_started; ++i) pthread_join(threads[i], NULL);
  return work->error != 0 ? -work->error : work->n_read;
}

// One list of chunks for all files, so that one that is large keeps every thread busy to the end.
long long plain_read_large(const char* const* paths, size_t n_paths, int n_threads,
                           size_t buffer_bytes, int direct) {
  struct Chunk* chunks = NULL;
  struct Work work = {.buffer_bytes = buffer_bytes};
  int* fds = malloc(n_paths * sizeof *fds);
  size_t n_open = 0;
  for (; n_open < n_paths && work.error == 0; ++n_open) {
    const int fd = open(paths[n_open], O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
    if (fd < 0) {
      work.error = errno;
      break;
    }
    fds[n_open] = fd;
    const long long nbytes = lseek(fd, 0, SEEK_END);
    const long long n_chunks = (nbytes + kChunkBytes - 1) / kChunkBytes;
    chunks = realloc(chunks, (size_t)(work.end + n_chunks) * sizeof *chunks);
    for (long long i = 0; i < n_chunks; ++i) {
      const long long begin = i * kChunkBytes;
      chunks[work.end++] = (struct Chunk){fd, begin, smaller(begin + kChunkBytes, nbytes)};
    }
  }
  work.chunks = chunks;
  const long long n_read = work.error != 0 ? -work.error : run(read_chunks, &work, n_threads);
  while (n_open > 0) close(fds[--n_open]);
  free(fds);
  free(chunks);
  return n_read;
}

long long plain_read_small(const char* const* paths, size_t n_paths, int n_threads,
                           size_t buffer_bytes) {
  struct Work work = {.paths = paths, .end = (long long)n_paths, .buffer_bytes = buffer_bytes};
  return run(read_each, &work, n_threads);
}
