// What a service manager such as systemd and its services tell each other.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Whether a manager wants reports of the program's state.
bool cmx_is_notified(void);
// Sends it lines such as "READY=1", bypassing any intake. What cannot be sent is dropped.
void cmx_notify(const char *lines);
// The time, for "MONOTONIC_USEC=".
uint64_t cmx_service_time(void);
// The watchdog's timeout in nanoseconds; 0: the manager expects no signs of life.
int64_t cmx_watchdog_time(void);

// How many sockets were passed to this process, from descriptor 3 on.
int cmx_passed_sockets(void);
// A copy of a passed socket, by its name or its number from 1; "" if there is only one.
// -ENOENT: there is none; -ENOTUNIQ: there are several; -EINVAL: it does not listen.
int cmx_passed_socket(const char *name);
// Whether a descriptor leads to the system's journal.
bool cmx_is_journal(int fd);
