// A process that confines itself: resource limits, files (Landlock), system calls (`filter.c`).
#define _GNU_SOURCE
#include "cmx_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmx_filter.h"

// ---- Landlock: Debian 12's headers know the first version only ------------------------------

enum {
  LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_RESTRICT = 446,
  WANTS_VERSION = 1, RULE_PATH = 1, RULE_PORT = 2,
};

struct ruleset { uint64_t files, network, scopes; };
struct path_rule { uint64_t access; int32_t parent; } __attribute__((packed));
struct port_rule { uint64_t access, port; };

enum {
  FILE_EXECUTE = 1 << 0, FILE_WRITE = 1 << 1, FILE_READ = 1 << 2, FOLDER_READ = 1 << 3,
  FILES_1 = (1 << 13) - 1,   // all of the first version
  FILES_REFER = 1 << 13, FILES_TRUNCATE = 1 << 14, FILES_IOCTL = 1 << 15,
  BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1,
  SCOPE_ABSTRACT = 1 << 0, SCOPE_SIGNAL = 1 << 1,
};

static uint64_t all_of_files(int version) {
  return FILES_1 | (version > 1 ? FILES_REFER : 0) | (version > 2 ? FILES_TRUNCATE : 0) |
         (version > 4 ? FILES_IOCTL : 0);
}

static int allow_path(int rules, const struct cmx_confined_path *allowed, uint64_t handled) {
  int fd = open(allowed->path, O_PATH | O_CLOEXEC);
  struct stat status;
  if (fd < 0) return allowed->mayBeMissing ? 0 : -errno;
  if (fstat(fd, &status) < 0) status.st_mode = 0;
  uint64_t reading = FILE_READ | FOLDER_READ;
  uint64_t access = (allowed->reads ? reading : 0) |
                    (allowed->writes ? handled & ~(reading | FILE_EXECUTE | FILES_IOCTL) : 0);
  if (!S_ISDIR(status.st_mode)) access &= FILE_READ | FILE_WRITE | FILES_TRUNCATE;
  struct path_rule rule = {.access = access & handled, .parent = fd};
  long result = syscall(LANDLOCK_ADD, rules, RULE_PATH, &rule, 0);
  int code = result < 0 ? -errno : 0;
  close(fd);
  return code;
}

static int allow_all(int rules, const struct cmx_confinement *plan, const struct ruleset *handled,
                     struct cmx_confined *confined) {
  for (int i = 0; !plan->allFiles && i < plan->pathCount; i++) {
    int code = allow_path(rules, &plan->paths[i], handled->files);
    if (code < 0) {
      confined->failedPath = i;
      return code;
    }
  }
  for (int i = 0; handled->network != 0 && i < plan->portCount; i++) {
    struct port_rule rule = {.access = handled->network, .port = plan->ports[i]};
    if (syscall(LANDLOCK_ADD, rules, RULE_PORT, &rule, 0) < 0) return -errno;
  }
  return syscall(LANDLOCK_RESTRICT, rules, 0) < 0 ? -errno : 0;
}

static int confine_files(const struct cmx_confinement *plan, struct cmx_confined *confined) {
  long version = syscall(LANDLOCK_CREATE, NULL, 0, WANTS_VERSION);
  if (version < 1) return 0;  // the kernel has none, or was started without it
  struct ruleset handled = {.files = plan->allFiles ? FILE_EXECUTE : all_of_files((int)version)};
  bool holds_ports = !plan->internet || plan->ports != NULL;
  if (version > 3 && holds_ports) handled.network = BIND_TCP | CONNECT_TCP;
  if (version > 5) handled.scopes = SCOPE_ABSTRACT | SCOPE_SIGNAL;
  size_t size = version > 5 ? sizeof handled : version > 3 ? 16 : 8;
  int rules = (int)syscall(LANDLOCK_CREATE, &handled, size, 0);
  if (rules < 0) return -errno;
  int code = allow_all(rules, plan, &handled, confined);
  close(rules);
  if (code == 0) confined->landlock = (int32_t)version;
  return code;
}

// ---- Limits ----------------------------------------------------------------------------------

// Bytes of address space that the process has, and of private memory.
static void memory_in_use(int64_t *space, int64_t *data) {
  *space = *data = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  long all = 0, private = 0;
  if (file == NULL) return;
  if (fscanf(file, "%ld %*s %*s %*s %*s %ld", &all, &private) == 2) {
    *space = (int64_t)all * sysconf(_SC_PAGESIZE);
    *data = (int64_t)private * sysconf(_SC_PAGESIZE);
  }
  fclose(file);
}

static int64_t left(int resource, int64_t used) {
  struct rlimit now;
  if (getrlimit(resource, &now) < 0 || now.rlim_cur > INT64_MAX) return INT64_MAX;
  return (int64_t)now.rlim_cur > used ? (int64_t)now.rlim_cur - used : 0;
}

int64_t cmx_memory_left(void) {
  // Most processes have no limit: then nothing is read.
  if (left(RLIMIT_DATA, 0) == INT64_MAX && left(RLIMIT_AS, 0) == INT64_MAX) return INT64_MAX;
  int64_t space, data;
  memory_in_use(&space, &data);
  int64_t of_data = left(RLIMIT_DATA, data), of_space = left(RLIMIT_AS, space);
  return of_data < of_space ? of_data : of_space;
}

// Never above the present limit.
static int limit(int resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) < 0) return -errno;
  if (now.rlim_max < most) most = now.rlim_max;
  struct rlimit wanted = {.rlim_cur = most, .rlim_max = most};
  return setrlimit(resource, &wanted) < 0 ? -errno : 0;
}

// The stack of the main thread does not count as data.
static const rlim_t largest_stack = 8 << 20;

static int limit_resources(const struct cmx_confinement *plan, struct cmx_confined *confined) {
  int64_t space, data;
  memory_in_use(&space, &data);
  int code = limit(RLIMIT_CORE, 0);
  if (code == 0) code = limit(RLIMIT_STACK, largest_stack);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (code == 0 && plan->memory > 0)
    code = limit(RLIMIT_DATA, (rlim_t)(data + plan->memory));
#endif
  if (code == 0 && plan->descriptors > 0) code = limit(RLIMIT_NOFILE, (rlim_t)plan->descriptors);
  confined->memory = cmx_memory_left();
  return code;
}

int cmx_confine(const struct cmx_confinement *plan, struct cmx_confined *confined) {
  *confined = (struct cmx_confined){.failedPath = -1};
  tzset();  // while its file can be read
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
  int code = limit_resources(plan, confined);
  if (code == 0) code = confine_files(plan, confined);
  if (code == 0) code = cmx_filter_calls(plan);
  confined->calls = code == 0;
  return code;
}

void cmx_forget_environment(void) {
  for (char **line = environ; line != NULL && *line != NULL; line++)
    if (strncmp(*line, "TZ=", 3) != 0) memset(*line, 0, strlen(*line));
}

bool cmx_end_with_parent(int32_t parent, int32_t signal) {
  return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) == 0 && getppid() == parent;
}
