// Linux calls that the Glibc module does not offer (they need _GNU_SOURCE), and constants whose
// macros Swift cannot read. Names begin with cmx_.
#pragma once

// The symbolic name of an errno value, such as "EBADF"; NULL if there is none.
const char *cmx_errno_name(int code);
