// Swift's static library has constructors that cost a ninth of a start: one reads /proc/self/maps
// to find the arguments on the stack, one looks for a program that prints backtraces beside the
// toolchain. The linker takes neither from the archive if the functions are here.
#include "CProgramStart.h"

#include "CLinuxShims.h"

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
