// Names of recorded events in messages.
#define _GNU_SOURCE
#include <stdio.h>

#include "shared.h"

static const char *name_of(int tag) {
  static const char *const calls[] = {
    "nothing", "epoll_create1", "epoll_ctl", "epoll_wait", "eventfd", "timerfd_create",
    "timerfd_settime", "fcntl", "read", "write", "socketpair", "prctl", "epoll_pwait2", "shutdown",
    "signalfd", "pipe2", "clone", "inotify_init1", "inotify_add_watch", "open", "socket", "bind",
    "listen", "accept4", "connect", "setsockopt", "sendto", "recvfrom", "sendmsg", "recvmsg",
    "sendfile", "splice",
  };
  _Static_assert(sizeof calls / sizeof *calls == cmx_call_count, "a name for each call");
  static const char *const looks[] = {
    [cmx_tag_monotonic] = "the time", [cmx_tag_coarse] = "the coarse time",
    [cmx_tag_wall] = "the wall clock", [cmx_tag_host] = "a Lua library's answer",
    [cmx_tag_ending] = "a signal that ends the program", [cmx_tag_end] = "the end",
    [cmx_tag_tick] = "clock_getres", [cmx_tag_traits] = "fstat", [cmx_tag_is_ready] = "poll",
    [cmx_tag_is_open] = "whether it is open", [cmx_tag_socket_error] = "the error of a socket",
    [cmx_tag_socket_name] = "the address of a socket", [cmx_tag_credentials] = "SO_PEERCRED",
    [cmx_tag_sort] = "what it is", [cmx_tag_identity] = "lstat", [cmx_tag_unlink] = "unlink",
    [cmx_tag_set_mode] = "fchmod", [cmx_tag_exit_of] = "waitid",
    [cmx_tag_process_signal] = "pidfd_send_signal", [cmx_tag_await_exits] = "the end of children",
    [cmx_tag_hung_up] = "whether it has hung up", [cmx_tag_hangup_open] = "a watch for hang-ups",
    [cmx_tag_alarm] = "an alarm", [cmx_tag_signal_block] = "sigmask",
    [cmx_tag_signal_divert] = "sigaction", [cmx_tag_signal_send] = "kill",
    [cmx_tag_own_id] = "getpid", [cmx_tag_is_terminal] = "isatty",
    [cmx_tag_terminal_size] = "the size of a terminal", [cmx_tag_terminal_open] = "a terminal",
    [cmx_tag_terminal_raw] = "tcsetattr", [cmx_tag_look_at] = "stat",
    [cmx_tag_list] = "readdir", [cmx_tag_read_link] = "readlink", [cmx_tag_folder] = "getcwd",
    [cmx_tag_watch_limit] = "max_user_watches", [cmx_tag_spawn] = "the start of a program",
    [cmx_tag_tls] = "TLS",
    [cmx_tag_yes] = "input from another thread",
    [cmx_tag_thread] = "another thread's answer",
  };
  if (tag >= 0 && tag < cmx_call_count) return calls[tag];
  return tag >= cmx_tag_monotonic && tag < cmx_tag_count ? looks[tag] : "something unknown";
}

void cmr_describe(char *text, size_t size, int tag, int64_t key) {
  bool has_fd = tag < cmx_tag_monotonic || tag == cmx_tag_is_ready || tag == cmx_tag_exit_of;
  if (has_fd && key > 0) snprintf(text, size, "%s (descriptor %lld)", name_of(tag), (long long)key);
  else snprintf(text, size, "%s", name_of(tag));
}
