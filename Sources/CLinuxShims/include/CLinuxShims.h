// Linux calls that the Glibc module does not offer (they need _GNU_SOURCE), and constants whose
// macros Swift cannot read. Names begin with cmx_.
#pragma once
#include "cmx_files.h"
#include "cmx_intake.h"
#include "cmx_log.h"
#include "cmx_prefetch.h"
#include "cmx_private_files.h"
#include "cmx_process.h"
#include "cmx_service.h"
#include "cmx_signal.h"
#include "cmx_terminal.h"
#include "cmx_thread.h"
#include "cmx_tls.h"
#include "cmx_watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The symbolic name of an errno value, such as "EBADF"; NULL if there is none.
const char *cmx_errno_name(int code);

// ---- The command line (arguments.c) ------------------------------------------------------
// Also where /proc is not mounted.
int cmx_argument_count(void);
// The arguments, each zero-terminated; they live as long as the program.
char **cmx_arguments(void);

// ---- System calls (calls.c) ----------------------------------------------------------------
// Each returns the system call's result, or -errno. Callers must not use errno.

// The calls, for faults and for names in errors. 0 is none.
enum cmx_call {
  cmx_call_none,
  cmx_call_epoll_create,
  cmx_call_epoll_ctl,
  cmx_call_epoll_wait,
  cmx_call_eventfd,
  cmx_call_timerfd_create,
  cmx_call_timerfd_settime,
  cmx_call_fcntl,
  cmx_call_read,
  cmx_call_write,
  cmx_call_socketpair,
  cmx_call_prctl,
  cmx_call_epoll_pwait2,
  cmx_call_shutdown,
  cmx_call_signalfd,
  cmx_call_pipe,
  cmx_call_clone,
  cmx_call_inotify_init,
  cmx_call_inotify_add_watch,
  cmx_call_open,
  cmx_call_socket,
  cmx_call_bind,
  cmx_call_listen,
  cmx_call_accept,
  cmx_call_connect,
  cmx_call_setsockopt,
  cmx_call_sendto,
  cmx_call_recvfrom,
  cmx_call_sendmsg,
  cmx_call_recvmsg,
  cmx_call_sendfile,
  cmx_call_splice,
  cmx_call_count,
};

// A fault for tests, on the calling thread: after `skip` more calls of `call`, the next `times` of
// them fail with `code` without reaching the system. Costs one thread-local compare per call.
void cmx_fault_set(int call, int skip, int times, int code);
// How often the last fault has struck on this thread.
int cmx_fault_strikes(void);
// The errno that the current call must fail with, or 0. For the kernel without system calls.
int cmx_fault_take(int call);

// One ready descriptor; laid out as `ReadyEvent`.
struct cmx_ready {
  uint64_t token;
  uint8_t events;  // bit 0: read, bit 1: write
};

enum cmx_internal {
  cmx_internal_wake = 1,    // the wake-up descriptor
  cmx_internal_wall = 2,    // the descriptor that reports steps of the wall clock
  cmx_internal_silent = 4,  // a hang-up of a descriptor in the set with an empty interest
};

int cmx_epoll_create(void);
// `interest` as in cmx_ready; an empty one stays in the set and is never reported.
int cmx_epoll_add(int set, int fd, uint8_t interest, uint64_t token);
int cmx_epoll_change(int set, int fd, uint8_t interest, uint64_t token);
int cmx_epoll_remove(int set, int fd);
// Adds one of our own descriptors: `wake` is edge-triggered, so that it need not be read.
int cmx_epoll_add_internal(int set, int fd, enum cmx_internal which);
// Waits for `timeout_ns` (0: poll; negative: forever); no shorter, unless something happens.
// Internal descriptors are reported in `*internal` and not counted.
int cmx_epoll_wait(
    int set, struct cmx_ready *ready, int count, int64_t timeout_ns, uint32_t *internal);

// All descriptors made here are above 2, closed on exec and non-blocking.
int cmx_eventfd(void);
// Adds one to it. Cannot fail, and is not subject to faults: a wake-up must not get lost.
void cmx_eventfd_signal(int fd);
int cmx_socketpair(int pair[2]);
// A wall clock timer and its arming: it never fires, but becomes readable (with ECANCELED) when the
// clock is set.
int cmx_timerfd(void);
int cmx_timerfd_watch(int fd);

// Retry EINTR.
intptr_t cmx_read(int fd, void *buffer, size_t count);
intptr_t cmx_write(int fd, const void *bytes, size_t count);

// Writes to a descriptor that blocks, until all is written or nothing can be.
void cmx_write_all(int fd, const void *bytes, size_t count);
int cmx_set_nonblocking(int fd);
int cmx_set_blocking(int fd);
bool cmx_is_open(int fd);
// 1: a directory; 2: non-blocking. Negative: -errno.
int cmx_traits(int fd);
// Whether it is ready to read (1) or write (2) now, errors included.
bool cmx_is_ready(int fd, uint8_t event);
void cmx_close(int fd);

// ---- What is on its way to this process itself ----
// From now on remembers what is sent. Any thread.
void cmx_note_sends(void);
// Waits, usually for some microseconds, until what was sent over loopback has reached its
// receiver. Any thread. Returns whether anything was sent since the last time.
bool cmx_await_loopback(void);

// How late the system may end a sleep of the calling thread, in nanoseconds.
int cmx_timer_slack(void);
int cmx_set_timer_slack(int64_t nanoseconds);

// Makes writes to closed pipes, and to files at the limit of their size, an error instead of a
// signal, unless the program handles SIGPIPE or SIGXFSZ.
void cmx_ignore_write_signals(void);
// ---- Sockets (sockets.c) -------------------------------------------------------------------
// A socket address of any family.
struct cmx_address {
  uint32_t size;
  // Sized and aligned like a sockaddr_storage.
  _Alignas(8) unsigned char bytes[128];
};

enum cmx_family { cmx_family_inet, cmx_family_inet6, cmx_family_unix };

// A numeric address; IPv6 with a scope after %. False if it is not one.
bool cmx_address_parse(struct cmx_address *out, const char *host, int port);
// A path, or an abstract name after @. False if it is too long or empty.
bool cmx_address_unix(struct cmx_address *out, const char *path, size_t length);
int cmx_address_port(const struct cmx_address *address);  // -1: it has none
void cmx_address_set_port(struct cmx_address *address, int port);
enum cmx_family cmx_family_of(const struct cmx_address *address);
// Writes the address without its port; IPv4-mapped IPv6 as IPv4. Returns the length.
size_t cmx_address_text(const struct cmx_address *address, char *text, size_t size);

int cmx_socket(enum cmx_family family, bool is_datagram);
int cmx_bind(int fd, const struct cmx_address *address);
int cmx_listen(int fd, int backlog);
int cmx_accept(int fd, struct cmx_address *peer);
// -EINPROGRESS: it becomes writable when it is done; see cmx_socket_error.
int cmx_connect(int fd, const struct cmx_address *address);
int cmx_socket_error(int fd);  // the pending error, which is cleared
int cmx_socket_name(int fd, bool is_peer, struct cmx_address *out);
bool cmx_socket_credentials(int fd, int *pid, unsigned *uid, unsigned *gid);

enum cmx_socket_option {
  cmx_option_reuse_address,
  cmx_option_reuse_port,
  cmx_option_v6_only,
  cmx_option_no_delay,
  cmx_option_keep_alive,
  cmx_option_keep_idle,
  cmx_option_keep_interval,
  cmx_option_broadcast,
  cmx_option_receive_buffer,
  cmx_option_send_buffer,
};
int cmx_socket_set(int fd, enum cmx_socket_option option, int value);
// Closing it will send a reset to the peer.
int cmx_socket_reset_on_close(int fd);
int cmx_shutdown(int fd, bool both_ways);

intptr_t cmx_send_to(int fd, const void *bytes, size_t count, const struct cmx_address *to);
// Returns the datagram's length, more than `count` if it was cut.
intptr_t cmx_receive_from(int fd, void *buffer, size_t count, struct cmx_address *from);
// At least one byte must go with a descriptor.
intptr_t cmx_send_descriptor(int fd, const void *bytes, size_t count, int passed);
// `*passed` is -1 if none came.
intptr_t cmx_receive_descriptor(int fd, void *buffer, size_t count, int *passed);

enum cmx_sort { cmx_sort_other, cmx_sort_file, cmx_sort_pipe, cmx_sort_socket };
enum cmx_sort cmx_sort_of(int fd);
intptr_t cmx_sendfile(int to, int from, size_t count);
intptr_t cmx_splice(int from, int to, size_t count);

enum cmx_resolve_family { cmx_resolve_any, cmx_resolve_inet, cmx_resolve_inet6 };
// Blocks. Returns the number of addresses, in order of preference; below 0 -EAI_..., below -1000
// -1000 - errno.
int cmx_resolve(const char *host, enum cmx_resolve_family family, struct cmx_address *out,
                int most);
const char *cmx_resolve_message(int code);
const char *cmx_resolve_name(int code);

// The identity of the socket file at a path; 0: none.
uint64_t cmx_file_identity(const char *path);
// Whether two paths lead to one file.
bool cmx_is_same_file(const char *one, const char *other);
int cmx_unlink(const char *path);
// For a socket that is not bound yet: the permissions of its file.
int cmx_set_mode(int fd, unsigned mode);

// ---- Standard streams -----------------------------------------------------------------------
// Opens /dev/null in place of each closed standard stream, the output as one that cannot be
// written; returns a mask of those it opened.
unsigned cmx_fill_standard_streams(void);
void cmx_empty_standard_streams(unsigned mask);
// Flushes the C library's standard output; 0, or -errno of the first failure since the last call
// (-EIO if unknown); what cannot be written is dropped.
int cmx_flush_standard_output(void);
// Prints like scripts, after what they have printed.
void cmx_print(const void *bytes, size_t count);

// Nanoseconds.
int64_t cmx_monotonic(void);
int64_t cmx_monotonic_coarse(void);
int64_t cmx_coarse_tick(void);
int64_t cmx_wall(void);
int64_t cmx_thread_time(void);  // what the calling thread has taken of the processors

// ---- Gate (gate.c) -------------------------------------------------------------------------
// A word that threads wait for and any thread can open.
struct cmx_gate;
struct cmx_gate *cmx_gate_make(void);
void cmx_gate_free(struct cmx_gate *gate);
void cmx_gate_open(struct cmx_gate *gate);
// Shuts it again. Only for the one waiting thread, while no other thread can be opening it.
void cmx_gate_shut(struct cmx_gate *gate);
// Negative: forever. False if it timed out.
bool cmx_gate_wait(struct cmx_gate *gate, int64_t timeout_ns);

// ---- The end of the program (ending.c) ------------------------------------------------------
// How to identify and stop the current call-out; both are called in signal handlers.
struct cmx_callouts {
  uint64_t (*number)(void *context);  // identifies it; 0: none
  bool (*stop)(void *context);
  bool (*visit)(void *context);  // calls the host within it
  void *context;
};

// Makes SIGINT, SIGTERM and a standard output without a reader ask for the end of the program,
// which also writes to the loop's wake-up descriptor. A second SIGINT or SIGTERM kills.
void cmx_ending_catch(struct cmx_callouts callouts, int wake_fd);
// The same for SIGHUP, unless it is ignored.
void cmx_ending_catch_hang_up(void);
// Call it before the functions' context is freed.
void cmx_ending_forget_callouts(void);
// Whether signals are caught.
bool cmx_ending_is_caught(void);
// Sets the wake-up descriptor that signals write to, and returns the previous one.
int cmx_ending_wake(int fd);
// Asks for the end; no effect if already asked. Any thread, any signal handler.
void cmx_ending_begin(int reason);
// Takes back, once, what SIGINT or SIGTERM asked for: the program ends in its own time, by calling
// `begin`. Returns the signal; 0 if there was none. A second signal still kills.
int cmx_ending_hear(void);
void cmx_ending_stop_callout(void);
void cmx_ending_visit_callout(void);
// The number of the current call-out, or 0.
uint64_t cmx_ending_callout(void);
extern volatile int cmx_ending_word;
// Set by a recording intake: a signal's request waits until it is taken, so that the intake can
// record it.
extern volatile bool cmx_ending_waits;
void cmx_ending_take_deferred(void);
// Why the program must end: a signal's number, or the argument of `begin`; 0: it need not.
static inline int cmx_ending(void) { return cmx_ending_word; }

// ---- Commands that block (command.c) ----------------------------------------------------------
// Runs a shell's command and waits for it, like `system`, but does not ignore SIGINT meanwhile. One
// from the terminal, which the command gets too, counts only if it ended the command.
int cmx_command_run(const char *command);
// Whether a SIGINT from the terminal is left to a command that runs. Any signal handler.
bool cmx_command_takes_interrupt(void);

// ---- Consoles (attention.c) ------------------------------------------------------------------
// From now on another process's signal sets the word and writes to the loop's wake-up descriptor; a
// call-out that is the same as at the last such signal is visited. No effect if the program handles
// that signal itself.
void cmx_attention_catch(int wake_fd);
// From now on real-time signals that have their default action have no effect.
void cmx_attention_ignore_strays(void);
// The end of this socket has consoles served, even within a busy call-out.
void cmx_attention_watch(int fd);
extern volatile int cmx_attention_word;
static inline bool cmx_attention(void) { return cmx_attention_word != 0; }
// Whether there was a request since the last call.
bool cmx_attention_take(void);
// How long the visited call-out has been running.
int64_t cmx_attention_busy_ns(void);
// Whether a process would receive a request.
bool cmx_attention_is_caught(int pid);
// Asks a process for a console, or to stop its call-out if that is the same as at the last such
// request; -ENOTSUP if it would not receive it.
int cmx_attention_ask(int pid, bool interrupts);

// ---- libdispatch ---------------------------------------------------------------------------
// How a run loop serves the main queue; exported for Core Foundation, but in no header.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);
