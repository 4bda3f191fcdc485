// A library to be preloaded that stops a thread at a certain moment, so that its process can be
// forked exactly then. A moment is when any thread but the first has just taken a mutex, or given
// one back. Moments are counted from 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint n_moments;
static atomic_uint wanted;  // 0: none
static atomic_int is_stopped;
static sem_t may_go_on;  // zeros are a semaphore of 0

static int (*real_lock)(pthread_mutex_t*);
static int (*real_unlock)(pthread_mutex_t*);

// For the first thread, before it forks.
void stop_at(unsigned moment) {
  n_moments = 0;
  wanted = moment;
}
int has_stopped(void) { return is_stopped; }
void go_on(void) { sem_post(&may_go_on); }

static int is_first_thread(void) { return syscall(SYS_gettid) == getpid(); }

static void pass_moment(void) {
  if (is_first_thread() || ++n_moments != wanted) return;
  is_stopped = 1;
  while (sem_wait(&may_go_on) != 0) continue;
}

static void find(void) {
  real_lock = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  real_unlock = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (real_lock == NULL) find();
  if (is_stopped && is_first_thread()) {
    if (pthread_mutex_trylock(mutex) == 0) return 0;
    go_on();  // who forks takes this mutex first: at this moment there is no fork
  }
  const int result = real_lock(mutex);
  pass_moment();
  return result;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (real_unlock == NULL) find();
  const int result = real_unlock(mutex);
  pass_moment();
  return result;
}
