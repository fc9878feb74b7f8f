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

// Whether a folder itself, not one that a link leads to, belongs to a user; `only_theirs`: and
// no one else may enter it.
bool cmx_folder_is_of(const char *path, unsigned user, bool only_theirs);
// Closes a folder of this user to others.
bool cmx_close_to_others(const char *path);
// The user that a path belongs to; the path itself, unless `follows_link`. -errno.
int64_t cmx_owner(const char *path, bool follows_link);
// Makes a folder whose name ends in six unpredictable letters, written to the end. -errno.
int cmx_make_unique_folder(char *template);
// Removes a file of a folder that only this user may enter.
void cmx_remove_private_file(const char *folder, const char *name);
// Calls `each` with the names in a folder, without "." and "..". -errno.
int cmx_each_name(
    const char *folder, void (*each)(void *context, const char *name), void *context);
// Reads a file from an offset: how many bytes; 0 at its end. -errno.
intptr_t cmx_read_file(const char *path, void *buffer, size_t size, int64_t offset);

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
