// The system calls of a confined process, as a program for the kernel (seccomp): what the loop, Lua
// and libc need is allowed; calls that only a break-out would make end the process; the rest fails
// with EPERM.
#define _GNU_SOURCE
#include "cmx_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif
enum { SIDE_TABLE_BIT = 0x40000000 };  // x32 calls have other numbers

// ---- Which calls ------------------------------------------------------------------------------

static const int always[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev,
    SYS_lseek, SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_pipe2, SYS_fstat, SYS_newfstatat,
    SYS_statx, SYS_openat, SYS_getdents64, SYS_readlinkat, SYS_faccessat, SYS_faccessat2,
    SYS_statfs, SYS_fstatfs, SYS_getcwd, SYS_ftruncate, SYS_fsync, SYS_fdatasync, SYS_flock,
    SYS_fallocate, SYS_fadvise64, SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_fchmod,
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_futex, SYS_membarrier, SYS_rseq,
    SYS_set_robust_list, SYS_set_tid_address, SYS_sigaltstack, SYS_rt_sigaction,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigtimedwait,
    SYS_restart_syscall, SYS_exit, SYS_exit_group, SYS_gettid, SYS_getpid, SYS_getppid, SYS_getuid,
    SYS_geteuid, SYS_getgid, SYS_getegid, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday,
    SYS_nanosleep, SYS_clock_nanosleep, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
    SYS_epoll_pwait2, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    SYS_signalfd4, SYS_ppoll, SYS_pselect6, SYS_getrandom, SYS_uname, SYS_sysinfo, SYS_getrusage,
    SYS_times, SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_delete,
    SYS_timer_getoverrun, SYS_setitimer, SYS_getitimer, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_getcpu, SYS_umask, SYS_getsockopt, SYS_setsockopt, SYS_getsockname,
    SYS_getpeername, SYS_shutdown, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg,
#if defined(__x86_64__)
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_pipe, SYS_poll,
    SYS_select, SYS_epoll_wait, SYS_time, SYS_arch_prctl,
#endif
};
// For sockets that were opened since.
static const int of_network[] = {
    SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_connect, SYS_sendmmsg, SYS_recvmmsg,
};
// By path, and confined to the granted paths by Landlock.
static const int of_folders[] = {
    SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_linkat, SYS_truncate,
#if defined(__x86_64__)
    SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_rename, SYS_link,
#endif
};
// By path, but not confined by Landlock: for processes that may do this to all files.
static const int of_all_files[] = {
    SYS_symlinkat, SYS_fchmodat, SYS_fchownat, SYS_fchown, SYS_utimensat,
#if defined(__x86_64__)
    SYS_symlink, SYS_chmod, SYS_chown, SYS_lchown, SYS_utimes, SYS_futimesat, SYS_utime,
#endif
};
static const int deadly[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_mount, SYS_umount2, SYS_pivot_root,
    SYS_chroot, SYS_setns, SYS_unshare, SYS_bpf, SYS_io_uring_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_userfaultfd, SYS_perf_event_open, SYS_keyctl, SYS_add_key,
    SYS_request_key, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_open_by_handle_at, SYS_fanotify_init, SYS_tkill,
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork, SYS_modify_ldt, SYS_iopl, SYS_ioperm,
#endif
};

// ---- The program -------------------------------------------------------------------------------

enum { MOST = 600 };
struct program { struct sock_filter steps[MOST]; int count; };

static void add(struct program *program, struct sock_filter step) {
  if (program->count < MOST) program->steps[program->count] = step;
  program->count++;
}

static void load(struct program *program, size_t offset) {
  add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void finish(struct program *program, uint32_t verdict) {
  add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

static uint32_t failure(int code) { return SECCOMP_RET_ERRNO | (uint32_t)code; }

// If the loaded word is this, the verdict is that.
static void when(struct program *program, uint32_t word, uint32_t verdict) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 0, 1));
  finish(program, verdict);
}

static void when_any(struct program *program, const int *calls, size_t count, uint32_t verdict) {
  for (size_t i = 0; i < count; i++) when(program, (uint32_t)calls[i], verdict);
}
#define WHEN_ANY(program, calls, verdict) \
  when_any(program, calls, sizeof calls / sizeof *calls, verdict)

// The low word of an argument: both architectures are little-endian.
static size_t argument(int number) {
  return offsetof(struct seccomp_data, args) + (size_t)number * sizeof(uint64_t);
}

// Begins the checks on the arguments of one call: returns the place of the jump past them.
static int of_call(struct program *program, int call) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 0));
  return program->count - 1;
}

static void end_of_call(struct program *program, int jump, uint32_t verdict) {
  finish(program, verdict);
  if (program->count <= MOST) program->steps[jump].jf = (uint8_t)(program->count - jump - 1);
}

// Fails if any of these bits of an argument is set.
static void unless_bits(struct program *program, int number, uint32_t bits) {
  load(program, argument(number));
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
  finish(program, failure(EPERM));
}

static void only_words(
    struct program *program, int call, int number, const uint32_t *words, size_t count,
    uint32_t otherwise) {
  int jump = of_call(program, call);
  load(program, argument(number));
  for (size_t i = 0; i < count; i++) when(program, words[i], SECCOMP_RET_ALLOW);
  end_of_call(program, jump, otherwise);
}
#define ONLY_WORDS(program, call, number, otherwise, ...)                                    \
  only_words(program, call, number, (const uint32_t[]){__VA_ARGS__},                         \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), otherwise)

static void add_threads(struct program *program) {
  when(program, SYS_clone3, failure(ENOSYS));  // its flags cannot be seen; libc then uses clone
  int jump = of_call(program, SYS_clone);
  load(program, argument(0));
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
  finish(program, SECCOMP_RET_KILL_PROCESS);
  end_of_call(program, jump, SECCOMP_RET_ALLOW);
  uint32_t own = (uint32_t)getpid();
  ONLY_WORDS(program, SYS_tgkill, 0, SECCOMP_RET_KILL_PROCESS, own);
  ONLY_WORDS(program, SYS_kill, 0, SECCOMP_RET_KILL_PROCESS, own);
}

// Memory cannot become code, and all of it counts as data: what is shared does not, nor what grows
// as a stack.
static void add_memory(struct program *program) {
  int jump = of_call(program, SYS_mmap);
  unless_bits(program, 2, PROT_EXEC);
  unless_bits(program, 3, MAP_SHARED | MAP_GROWSDOWN);
  end_of_call(program, jump, SECCOMP_RET_ALLOW);
  jump = of_call(program, SYS_mprotect);
  unless_bits(program, 2, PROT_EXEC);
  end_of_call(program, jump, SECCOMP_RET_ALLOW);
}

// Limits may be read, not set; no signal goes elsewhere by a descriptor.
static void add_conditions(struct program *program) {
  ONLY_WORDS(program, SYS_prctl, 0, failure(EPERM), PR_SET_NAME, PR_GET_NAME);
  ONLY_WORDS(program, SYS_ioctl, 1, failure(EPERM), FIONREAD, FIONBIO, FIOCLEX,
             0x5401 /* TCGETS */);
  ONLY_WORDS(program, SYS_fcntl, 1, failure(EPERM), F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD,
             F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK,
             F_OFD_SETLKW);
  int jump = of_call(program, SYS_prlimit64);
  for (size_t half = 0; half < 2; half++) {
    load(program, argument(2) + half * sizeof(uint32_t));
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    finish(program, failure(EPERM));
  }
  end_of_call(program, jump, SECCOMP_RET_ALLOW);
}

static void add_sockets(struct program *program, const struct cmx_confinement *plan) {
  int jump = of_call(program, SYS_socket);
  load(program, argument(0));
  if (plan->internet) {
    when(program, AF_INET, SECCOMP_RET_ALLOW);
    when(program, AF_INET6, SECCOMP_RET_ALLOW);
  }
  if (plan->unixSockets) when(program, AF_UNIX, SECCOMP_RET_ALLOW);
  end_of_call(program, jump, failure(EACCES));
}

static void write_program(struct program *program, const struct cmx_confinement *plan) {
  load(program, offsetof(struct seccomp_data, arch));
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
  finish(program, SECCOMP_RET_KILL_PROCESS);
  load(program, offsetof(struct seccomp_data, nr));
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SIDE_TABLE_BIT, 0, 1));
  finish(program, SECCOMP_RET_KILL_PROCESS);
  WHEN_ANY(program, always, SECCOMP_RET_ALLOW);
  if (plan->internet || plan->unixSockets) WHEN_ANY(program, of_network, SECCOMP_RET_ALLOW);
  if (plan->allFiles || plan->pathCount > 0) WHEN_ANY(program, of_folders, SECCOMP_RET_ALLOW);
  if (plan->allFiles) WHEN_ANY(program, of_all_files, SECCOMP_RET_ALLOW);
  WHEN_ANY(program, deadly, SECCOMP_RET_KILL_PROCESS);
  add_threads(program);
  add_memory(program);
  add_conditions(program);
  add_sockets(program, plan);
  finish(program, failure(EPERM));
}

int cmx_filter_calls(const struct cmx_confinement *plan) {
  struct program program = {.count = 0};
  write_program(&program, plan);
  if (program.count > MOST) return -E2BIG;
  struct sock_fprog steps = {.len = (unsigned short)program.count, .filter = program.steps};
  long result =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &steps);
  if (result != 0) return result < 0 ? -errno : -EBUSY;  // else an unfiltered thread
  return 0;
}
