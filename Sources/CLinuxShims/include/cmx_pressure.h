// Pressure-stall notifications: a file takes a trigger and reports when tasks stalled that long.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens a pressure file, or a FIFO in its place, for reading and writing; or -errno.
int cmx_pressure_open(const char *path);
// 0: a file of the kernel. 1: a FIFO. Other files take no trigger: -EOPNOTSUPP.
int cmx_pressure_sort(int fd);
// A descriptor that is readable once for each notification; or -errno. Close it before the file.
int cmx_pressure_watch(int fd, bool is_fifo);
// Consumes a notification and reads the file from its beginning, or what was written to the FIFO:
// the number of bytes, or -errno.
intptr_t cmx_pressure_read(int fd, bool is_fifo, int watch, void *buffer, size_t size);
