/*
 * Preloaded into a program of the storm: makes its wall clock wrong and its fsync slow, as two numbers in a file say that it maps.
 * The monotonic clock is left alone: it cannot jump on a real machine either.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct settings {
  volatile int64_t clock_us;
  volatile int64_t fsync_us;
};

static struct settings none;
static struct settings *settings = &none;

__attribute__((constructor)) static void open_settings(void) {
  const char *path = getenv("WINDLASS_STORM_SETTINGS");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0) return;
  void *map = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) settings = map;
  close(file);
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int clock_gettime(clockid_t id, struct timespec *at) {
  REAL(clock_gettime);
  int result = real(id, at);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) && settings->clock_us != 0) {
    int64_t us = (int64_t)at->tv_sec * 1000000 + at->tv_nsec / 1000 + settings->clock_us;
    at->tv_sec = us / 1000000;
    at->tv_nsec = us % 1000000 * 1000;
  }
  return result;
}

int gettimeofday(struct timeval *at, void *zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

static void wait_as_told(void) {
  if (settings->fsync_us > 0) usleep((useconds_t)settings->fsync_us);
}

int fsync(int file) {
  REAL(fsync);
  wait_as_told();
  return real(file);
}

int fdatasync(int file) {
  REAL(fdatasync);
  wait_as_told();
  return real(file);
}
