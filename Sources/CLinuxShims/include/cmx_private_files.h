// Folders, locks and descriptors of one user (private_files.c).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

unsigned cmx_user(void);

enum cmx_privacy {
  cmx_privacy_good,
  cmx_privacy_failed,  // *code says why
  cmx_privacy_no_folder,
  cmx_privacy_of_another,
  cmx_privacy_open_to_others,
};
// Makes a folder that only this user may enter, or reports what is wrong with the existing one.
enum cmx_privacy cmx_private_folder(const char *path, int *code);

// Locks a file, created if needed, and writes this process's ID to it. Closing unlocks.
// -EADDRINUSE: the process *owner has it, 0 if unknown.
int cmx_lock_file(const char *path, int *owner);
// Whether something other than a socket is at a path.
bool cmx_is_other_file(const char *path);

// Limit for the descriptors in a message: slightly below the system's.
#define CMX_MOST_PASSED 250
intptr_t cmx_send_with(int fd, const void *bytes, size_t count, const int *passed, int number);
// `passed` has room for CMX_MOST_PASSED. `*is_cut`: more came than could be taken over.
intptr_t cmx_receive_with(
    int fd, void *buffer, size_t count, int *passed, int *number, bool *is_cut);
