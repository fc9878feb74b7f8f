// What a fuzzer needs that Swift cannot say: libFuzzer's driver, where it is linked, and the lines
// of Lua that were run, as if they were branches of C.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;

// Runs libFuzzer's driver; -1 if it is not linked.
int cfz_run(int *argc, char ***argv, int (*target)(const uint8_t *bytes, size_t count));
// Defines `follow()` in Lua: from then on the lines that the coroutine runs are counted.
int cfz_install(lua_State *L);
