// The command line as the C library hands it to constructors: reading it from /proc, as Swift's
// CommandLine does, finds nothing where that is not mounted.
#include "CLinuxShims.h"

static int count;
static char **texts;

__attribute__((constructor)) static void keep_arguments(int given, char **arguments) {
  count = given;
  texts = arguments;
}

int cmx_argument_count(void) { return count; }

char **cmx_arguments(void) { return texts; }
