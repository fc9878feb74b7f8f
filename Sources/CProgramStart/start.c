// Swift's static library has constructors that cost a ninth of a start: one reads /proc/self/maps
// to find the arguments on the stack, one looks for a program that prints backtraces beside the
// toolchain. The linker takes neither from the archive if the functions are here.
#include "CProgramStart.h"

#include "CLinuxShims.h"

#include <stdint.h>

// ---- The command line, for Swift's CommandLine ----------------------------------------------

static char *none[] = {NULL};
static char **replaced;
static int replaced_count;

char **_swift_stdlib_getUnsafeArgvArgc(int *count);
void _swift_stdlib_overrideUnsafeArgvArgc(char **texts, int count);

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
  if (replaced) {
    *count = replaced_count;
    return replaced;
  }
  *count = cmx_argument_count();
  return *count > 0 ? cmx_arguments() : none;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **texts, int count) {
  replaced = texts;
  replaced_count = count;
}

// ---- The program that prints backtraces -----------------------------------------------------

#ifndef DEBUG
char *swift_copyAuxiliaryExecutablePath(const char *folder, const char *name);

// Not there in an installed program. SWIFT_BACKTRACE may still name it, as `swift-backtrace=PATH`.
char *swift_copyAuxiliaryExecutablePath(const char *folder, const char *name) {
  (void)folder, (void)name;
  return NULL;
}
#endif

// ---- The names of characters ----------------------------------------------------------------

// Those of all characters of Unicode take 550 kB, and nothing asks for one. The shipped program is
// linked with `--wrap=_swift_stdlib_getScalarName`, which calls this instead: there is no name.
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *name, intptr_t capacity);

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *name, intptr_t capacity) {
  (void)scalar, (void)name, (void)capacity;
  return 0;
}
