// Asks the processor for memory before it is needed.
#pragma once

// Begins to bring the line of the cache that an address is in; never faults, whatever the address.
static inline void cmx_prefetch(const void *address) { __builtin_prefetch(address, 1, 3); }
