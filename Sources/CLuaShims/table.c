// The functions of Lua's table library that can run long in one call, so that a stop ends them.
//
// Same results and messages as in liblua 5.4; the rest of the library stays liblua's own.
#include <limits.h>

#include "libraries.h"

// ── access ──────────────────────────────────────────────────────────────────────────────────────

// What a function does with its table, which determines the metamethods that a value needs.
enum { READS = 1, WRITES = 2, MEASURES = 4 };

// Whether the metatable on top has the field, if it is needed. [-0, +0, m]
static bool has_field(lua_State *L, bool is_needed, const char *name) {
  if (!is_needed) return true;
  lua_pushstring(L, name);
  bool has = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 1);
  return has;
}

static void check_like_table(lua_State *L, int arg, int use) {
  if (lua_type(L, arg) == LUA_TTABLE) return;
  if (lua_getmetatable(L, arg)) {
    bool is_like = has_field(L, use & READS, "__index") &&
                   has_field(L, use & WRITES, "__newindex") &&
                   has_field(L, use & MEASURES, "__len");
    lua_pop(L, 1);
    if (is_like) return;
  }
  luaL_checktype(L, arg, LUA_TTABLE);
}

// A table without a metatable is accessed without looking for metamethods. This is checked again
// before each step, because a step may run code that sets one.
static inline bool is_plain(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TTABLE) return false;
  if (!lua_getmetatable(L, arg)) return true;
  lua_pop(L, 1);
  return false;
}

static lua_Integer length_of(lua_State *L, int arg, int use) {
  if (is_plain(L, arg)) return (lua_Integer)lua_rawlen(L, arg);
  check_like_table(L, arg, use | MEASURES);
  return luaL_len(L, arg);
}

static inline lua_Integer next_of(lua_Integer i) { return (lua_Integer)((lua_Unsigned)i + 1); }

// Whether `position` is one of 1 to `last`, which may have wrapped round.
static inline bool is_within(lua_Integer position, lua_Unsigned last) {
  return (lua_Unsigned)position - 1 < last;
}

static inline void copy_element(lua_State *L, int from, lua_Integer from_i, int to,
                                lua_Integer to_i) {
  cml_poll(L);
  lua_geti(L, from, from_i);
  lua_seti(L, to, to_i);
}

// ── insert, remove, move ────────────────────────────────────────────────────────────────────────

static int table_insert(lua_State *L) {
  lua_Integer end = next_of(length_of(L, 1, READS | WRITES));
  lua_Integer position = end;
  switch (lua_gettop(L)) {
    case 2: break;
    case 3:
      position = luaL_checkinteger(L, 2);
      luaL_argcheck(L, is_within(position, (lua_Unsigned)end), 2, "position out of bounds");
      for (lua_Integer i = end; i > position; i--) copy_element(L, 1, i - 1, 1, i);
      break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  lua_seti(L, 1, position);
  return 0;
}

static int table_remove(lua_State *L) {
  lua_Integer length = length_of(L, 1, READS | WRITES);
  lua_Integer position = luaL_optinteger(L, 2, length);
  if (position != length)
    luaL_argcheck(L, (lua_Unsigned)position - 1 <= (lua_Unsigned)length, 1,
                  "position out of bounds");  // 1 although it is the second: liblua's message
  lua_geti(L, 1, position);
  for (; position < length; position++) copy_element(L, 1, position + 1, 1, position);
  lua_pushnil(L);
  lua_seti(L, 1, position);
  return 1;
}

static int table_move(lua_State *L) {
  lua_Integer first = luaL_checkinteger(L, 2);
  lua_Integer last = luaL_checkinteger(L, 3);
  lua_Integer to = luaL_checkinteger(L, 4);
  int target = lua_isnoneornil(L, 5) ? 1 : 5;
  check_like_table(L, 1, READS);
  check_like_table(L, target, WRITES);
  if (first <= last) {
    luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
    lua_Integer count = last - first + 1;
    luaL_argcheck(L, to <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
    bool is_apart = to > last || to <= first ||
                    (target != 1 && !lua_compare(L, 1, target, LUA_OPEQ));
    if (is_apart) {
      for (lua_Integer i = 0; i < count; i++) copy_element(L, 1, first + i, target, to + i);
    } else {
      for (lua_Integer i = count - 1; i >= 0; i--) copy_element(L, 1, first + i, target, to + i);
    }
  }
  lua_pushvalue(L, target);
  return 1;
}

// ── concat ──────────────────────────────────────────────────────────────────────────────────────

static void add_element(lua_State *L, luaL_Buffer *buffer, lua_Integer i) {
  cml_poll(L);
  lua_geti(L, 1, i);
  if (!lua_isstring(L, -1))
    luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1),
               (LUAI_UACINT)i);
  luaL_addvalue(buffer);
}

static int table_concat(lua_State *L) {
  lua_Integer last = length_of(L, 1, READS);
  size_t separator_length;
  const char *separator = luaL_optlstring(L, 2, "", &separator_length);
  lua_Integer i = luaL_optinteger(L, 3, 1);
  last = luaL_optinteger(L, 4, last);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (; i < last; i++) {
    add_element(L, &buffer, i);
    luaL_addlstring(&buffer, separator, separator_length);
  }
  if (i == last) add_element(L, &buffer, i);
  luaL_pushresult(&buffer);
  return 1;
}

// ── sort ────────────────────────────────────────────────────────────────────────────────────────

typedef unsigned int position;

enum {
  // Ranges up to this size always take their middle as the pivot.
  MIDDLE_PIVOT_MAX = 100,
  // Once a partition was so uneven that one side is less than this part of the other, the pivots of
  // larger ranges vary.
  BAD_CUT = 128,
};

// Whether the value at stack index `a` comes before the one at `b`; both count from the top.
static inline bool is_before(lua_State *L, bool has_order, int a, int b) {
  cml_poll(L);
  if (!has_order) return lua_compare(L, a, b, LUA_OPLT);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, a - 1);
  lua_pushvalue(L, b - 2);
  lua_call(L, 2, 1);  // door: script's, below sort
  bool result = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return result;
}

// Pushes t[i] and t[j]. [-0, +2, e]
static void push_pair(lua_State *L, position i, position j) {
  lua_geti(L, 1, i);
  lua_geti(L, 1, j);
}

// Sets t[i] to the value on top and t[j] to the one below. [-2, +0, e]
static void set_pair(lua_State *L, position i, position j) {
  lua_seti(L, 1, i);
  lua_seti(L, 1, j);
}

// Swaps t[i] and t[j], i < j, if they are out of order.
static bool put_in_order(lua_State *L, bool has_order, position i, position j) {
  push_pair(L, i, j);
  if (!is_before(L, has_order, -1, -2)) {
    lua_pop(L, 2);
    return false;
  }
  set_pair(L, i, j);
  return true;
}

static position pivot_of(position low, position high, position wander) {
  if (wander == 0 || high - low <= MIDDLE_PIVOT_MAX) return low + (high - low) / 2;
  position quarter = (high - low) / 4;
  return low + quarter + wander % (quarter * 2);
}

_Noreturn static void raise_bad_order(lua_State *L) {
  luaL_error(L, "invalid order function for sorting");
  __builtin_unreachable();
}

// Partitions the range by its pivot, which is on top of the stack and at t[high - 1]; t[low] is not
// after it and t[high] not before. Returns the pivot's place. [-1, +0, e]
static position cut(lua_State *L, bool has_order, position low, position high) {
  position i = low, j = high - 1;
  for (;;) {
    while (lua_geti(L, 1, ++i), is_before(L, has_order, -1, -2)) {
      // Only an inconsistent order leads past the pivot's own place.
      if (i == high - 1) raise_bad_order(L);
      lua_pop(L, 1);
    }
    while (lua_geti(L, 1, --j), is_before(L, has_order, -3, -1)) {
      if (j < i) raise_bad_order(L);
      lua_pop(L, 1);
    }
    if (j < i) {
      lua_pop(L, 1);
      set_pair(L, high - 1, i);
      return i;
    }
    set_pair(L, i, j);
  }
}

// Quicksort with the median of three, recursing into the smaller side only: depth is at most 32.
static void sort_range(lua_State *L, bool has_order, position low, position high,
                       position wander) {
  while (low < high) {
    put_in_order(L, has_order, low, high);
    if (high - low == 1) return;
    position pivot = pivot_of(low, high, wander);
    if (!put_in_order(L, has_order, low, pivot)) put_in_order(L, has_order, pivot, high);
    if (high - low == 2) return;
    lua_geti(L, 1, pivot);
    lua_pushvalue(L, -1);
    lua_geti(L, 1, high - 1);
    set_pair(L, pivot, high - 1);
    position middle = cut(L, has_order, low, high);
    position smaller;
    if (middle - low < high - middle) {
      sort_range(L, has_order, low, middle - 1, wander);
      smaller = middle - low;
      low = middle + 1;
    } else {
      sort_range(L, has_order, middle + 1, high, wander);
      smaller = high - middle;
      high = middle - 1;
    }
    // Its own sequence, not the clock: the same script sorts the same way in each run.
    if (low < high && (high - low) / BAD_CUT > smaller) wander = wander * 1664525u + 1013904223u;
  }
}

static int table_sort(lua_State *L) {
  lua_Integer length = length_of(L, 1, READS | WRITES);
  if (length <= 1) return 0;
  luaL_argcheck(L, length < INT_MAX, 1, "array too big");
  bool has_order = !lua_isnoneornil(L, 2);
  if (has_order) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  sort_range(L, has_order, 1, (position)length, 0);
  return 0;
}

void cml_install_table(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"insert", table_insert}, {"remove", table_remove}, {"move", table_move},
      {"concat", table_concat}, {"sort", table_sort},     {NULL, NULL},
  };
  cml_replace_functions(L, LUA_TABLIBNAME, functions);
}
