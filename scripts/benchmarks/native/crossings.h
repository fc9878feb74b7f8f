// What the floor offers for W18.
#pragma once
#include <lua.h>

// Adds the functions to the table on top of the stack. [-0, +0, e]
void open_crossings(lua_State *L);
