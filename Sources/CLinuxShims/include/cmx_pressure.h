// Pressure-stall notifications: a file that takes a trigger, and tells when tasks stalled so long.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens a pressure file, or a FIFO that stands for one, to be read and written; or -errno.
int cmx_pressure_open(const char *path);
// 0: a file of the kernel. 1: a FIFO. Anything else takes no trigger: -EOPNOTSUPP.
int cmx_pressure_sort(int fd);
// A descriptor that is readable once for each notification; or -errno. Close it before the file.
int cmx_pressure_watch(int fd, bool is_fifo);
// Takes what a watch has told, and reads the text of the file from its beginning, or what was
// written into the FIFO: how many bytes, or -errno.
intptr_t cmx_pressure_read(int fd, bool is_fifo, int watch, void *buffer, size_t size);
