// ThreadSanitizer and the long jumps of liblua: nothing in other builds.
#include <setjmp.h>

#include "cml_internal.h"

#ifdef CML_HOLDS_SIGNALS
// ThreadSanitizer keeps a list of the frames of each thread, and shortens it where `longjmp` is
// called. A hardened liblua, as Debian's is, calls this function instead, which it does not know:
// the frames of ours that an error or a yield leaves would stay in the list for ever, and every
// allocation reads all of it. Defined here it comes before the C library's.
_Noreturn void __longjmp_chk(jmp_buf to, int value);
_Noreturn void __longjmp_chk(jmp_buf to, int value) { longjmp(to, value); }
#endif
