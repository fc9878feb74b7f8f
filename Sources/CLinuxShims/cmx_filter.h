// The filter of system calls of a confined process.
#pragma once
#include "cmx_confine.h"

// 0 or -errno.
int cmx_filter_calls(const struct cmx_confinement *plan);
