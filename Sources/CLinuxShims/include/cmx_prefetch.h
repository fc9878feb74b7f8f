// Asks the processor for memory before it is needed.
#pragma once

// Prefetches the cache line of an address; never faults, whatever the address.
static inline void cmx_prefetch(const void *address) { __builtin_prefetch(address, 1, 3); }
