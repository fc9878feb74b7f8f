// Lists of numbers in one go: what would be three calls from Swift for each item.
#include "cml_internal.h"

size_t cml_get_integers(lua_State *L, int i, intptr_t *items, size_t count) {
  size_t read = 0;
  int is_integer = 1;
  while (read < count) {
    lua_rawgeti(L, i, (lua_Integer)read + 1);
    items[read] = lua_tointegerx(L, -1, &is_integer);
    lua_settop(L, -2);
    if (!is_integer) break;
    read++;
  }
  return read;
}

size_t cml_get_numbers(lua_State *L, int i, double *items, size_t count) {
  size_t read = 0;
  int is_number = 1;
  while (read < count) {
    lua_rawgeti(L, i, (lua_Integer)read + 1);
    items[read] = lua_tonumberx(L, -1, &is_number);
    lua_settop(L, -2);
    if (!is_number) break;
    read++;
  }
  return read;
}

static int room(size_t count) { return count > INT32_MAX ? INT32_MAX : (int)count; }

void cml_push_integers(lua_State *L, const intptr_t *items, size_t count) {
  cml_newtable(L, room(count), 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushinteger(L, items[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

void cml_push_numbers(lua_State *L, const double *items, size_t count) {
  cml_newtable(L, room(count), 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushnumber(L, items[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

size_t cml_count_fields(lua_State *L, int i) {
  size_t count = 0;
  lua_pushnil(L);
  while (lua_next(L, i) != 0) {
    lua_settop(L, -2);
    count++;
  }
  return count;
}

size_t cml_begin_making(cml_state *s) {
  if (s->makers++ == 0) s->made = 0;
  size_t left = s->made < s->limit ? s->limit - s->made : 0;
  return left < PTRDIFF_MAX ? left : PTRDIFF_MAX;
}

bool cml_make(cml_state *s, size_t bytes) {
  s->made = bytes > SIZE_MAX - s->made ? SIZE_MAX : s->made + bytes;
  if (cml_made_too_much(s)) return false;
  return (++s->made_values & 1023) != 0 || !cml_must_stop(s);
}

void cml_end_making(cml_state *s) { s->makers--; }

bool cml_made_too_much(cml_state *s) { return s->made > s->limit; }
