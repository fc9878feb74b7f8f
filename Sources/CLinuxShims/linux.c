// Names of errno values.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <string.h>

const char *cmx_errno_name(int code) { return strerrorname_np(code); }
