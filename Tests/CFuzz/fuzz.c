// The driver of libFuzzer, if it is linked, and the lines of Lua as coverage.
#include "CFuzz.h"

#include "cml_lua.h"

// In normal builds there is no driver.
extern int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*target)(const uint8_t *bytes, size_t count))
    __attribute__((weak));

int cfz_run(int *argc, char ***argv, int (*target)(const uint8_t *bytes, size_t count)) {
  return LLVMFuzzerRunDriver == NULL ? -1 : LLVMFuzzerRunDriver(argc, argv, target);
}

// libFuzzer takes what is in this section for counters of coverage.
enum { LINES = 1 << 14 };
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t lines[LINES];

static void note(lua_State *L, lua_Debug *info) {
  lua_getinfo(L, "S", info);
  uint32_t hash = (uint32_t)info->currentline;
  for (const char *sign = info->short_src; *sign != 0; sign++) hash = hash * 31 + (uint8_t)*sign;
  uint8_t *line = &lines[hash % LINES];
  if (*line < UINT8_MAX) ++*line;
}

static int follow(lua_State *L) {
  lua_sethook(L, note, LUA_MASKLINE, 0);
  return 0;
}

int cfz_install(lua_State *L) {
  lua_register(L, "follow", follow);
  return 0;
}
