// Makes ThreadSanitizer work with liblua's long jumps; empty in other builds.
#include <setjmp.h>

#include "cml_internal.h"

#ifdef CML_HOLDS_SIGNALS
// ThreadSanitizer keeps a list of each thread's frames and shortens it where `longjmp` is called. A
// hardened liblua, such as Debian's, calls this function instead, which it does not know: frames
// left by an error or a yield would stay in the list forever, and every allocation reads all of
// it. Defined here, it takes precedence over the C library's.
_Noreturn void __longjmp_chk(jmp_buf to, int value);
_Noreturn void __longjmp_chk(jmp_buf to, int value) { longjmp(to, value); }
#endif
