#include "cml_state.h"

_Noreturn void cml_raise_stop(lua_State *L) {
  lua_pushlightuserdata(L, (void *)cml_of(L));
  lua_error(L);
  __builtin_unreachable();
}
