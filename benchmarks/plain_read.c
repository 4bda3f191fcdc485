// Reads bytes and does nothing with them: as fast as a reader can be on this machine. Both functions
// return how many bytes they have read, or -errno.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { kMaxThreads = 1024, kPageBytes = 4096, kChunkBytes = 4 << 20, kFilesAtOnce = 16 };

struct Work {
  int fd;
  const char* const* paths;
  long long end;  // bytes of the file, or number of paths
  size_t buffer_bytes;
  atomic_llong next;  // byte or path
  atomic_llong n_read;
  atomic_int error;
};

static long long smaller(long long a, long long b) { return a < b ? a : b; }

// Threads take chunks of one file and read them in pieces as large as the buffer.
static void* read_chunks(void* argument) {
  struct Work* work = argument;
  void* buffer = aligned_alloc(kPageBytes, work->buffer_bytes);
  long long at;
  while ((at = atomic_fetch_add(&work->next, kChunkBytes)) < work->end) {
    const long long end = smaller(at + kChunkBytes, work->end);
    ssize_t n = 1;
    for (; at < end && n > 0; at += n) {
      n = pread(work->fd, buffer, (size_t)smaller(end - at, (long long)work->buffer_bytes), at);
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

long long plain_read_file(const char* path, int n_threads, size_t buffer_bytes) {
  struct Work work = {.fd = open(path, O_RDONLY | O_CLOEXEC), .buffer_bytes = buffer_bytes};
  if (work.fd < 0) return -errno;
  work.end = lseek(work.fd, 0, SEEK_END);
  const long long n_read = run(read_chunks, &work, n_threads);
  close(work.fd);
  return n_read;
}

long long plain_read_files(const char* const* paths, size_t n_paths, int n_threads,
                           size_t buffer_bytes) {
  struct Work work = {.paths = paths, .end = (long long)n_paths, .buffer_bytes = buffer_bytes};
  return run(read_each, &work, n_threads);
}
