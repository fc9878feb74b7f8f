// Process groups, whose leader may be a child that has ended and was not reaped.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmx_process.h"

// Whether a process has not ended, even if it was not reaped.
static bool runs(const char *pid) {
  char path[40], text[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  size_t count = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[count] = 0;
  const char *name_end = strrchr(text, ')');  // its name may have brackets
  char state = name_end != NULL && name_end[1] == ' ' ? name_end[2] : 'X';
  return state != 'Z' && state != 'X';
}

bool cmx_group_runs(int32_t leader) {
  DIR *processes = opendir("/proc");
  if (processes == NULL) return true;
  bool found = false;
  for (struct dirent *one; !found && (one = readdir(processes)) != NULL;) {
    int32_t pid = (int32_t)strtol(one->d_name, NULL, 10);
    found = pid > 0 && pid != leader && getpgid(pid) == leader && runs(one->d_name);
  }
  closedir(processes);
  return found;
}
