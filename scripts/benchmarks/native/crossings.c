// What a program in C pays where values cross between it and Lua: the floor of W18. Written by
// hand, by the plain API: protected calls, metatables by identity, copies of what is kept.
#include "crossings.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000, WORDS = 100 };

// Calls of Lua's functions ------------------------------------------------------------------------

// call(function, arguments, turns): calls it with so many integers, and reads an integer.
static int call(lua_State *L) {
  int arguments = (int)luaL_checkinteger(L, 2);
  lua_Integer turns = luaL_checkinteger(L, 3), sum = 0;
  lua_settop(L, 1);
  int ref = luaL_ref(L, LUA_REGISTRYINDEX);
  for (lua_Integer turn = 0; turn < turns; turn++) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
    for (int i = 0; i < arguments; i++) lua_pushinteger(L, turn);
    if (lua_pcall(L, arguments, 1, 0) != LUA_OK) return lua_error(L);
    int ok;
    sum += lua_tointegerx(L, -1, &ok);
    if (!ok) return luaL_error(L, "the result must be an integer");
    lua_pop(L, 1);
  }
  luaL_unref(L, LUA_REGISTRYINDEX, ref);
  lua_pushinteger(L, sum);
  return 1;
}

// Objects -----------------------------------------------------------------------------------------

struct counter { long long value; };
static struct counter *check_counter(lua_State *L) {
  struct counter *c = lua_touserdata(L, 1);
  if (c == NULL || !lua_getmetatable(L, 1)) luaL_typeerror(L, 1, "Counter");
  if (!lua_rawequal(L, -1, lua_upvalueindex(1))) luaL_typeerror(L, 1, "Counter");
  lua_pop(L, 1);
  return c;
}

static int counter_add(lua_State *L) {
  struct counter *c = check_counter(L);
  c->value += luaL_checkinteger(L, 2);
  lua_pushinteger(L, c->value);
  return 1;
}

// Upvalues: 1 the metatable, 2 the methods.
static int counter_index(lua_State *L) {
  struct counter *c = check_counter(L);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
  const char *name = luaL_checkstring(L, 2);
  if (strcmp(name, "value") != 0) return luaL_error(L, "Counter: unknown field '%s'", name);
  lua_pushinteger(L, c->value);
  return 1;
}

static int counter_newindex(lua_State *L) {
  struct counter *c = check_counter(L);
  const char *name = luaL_checkstring(L, 2);
  if (strcmp(name, "value") != 0) return luaL_error(L, "Counter: unknown field '%s'", name);
  c->value = luaL_checkinteger(L, 3);
  return 0;
}

static void push_counter(lua_State *L) {
  struct counter *c = lua_newuserdatauv(L, sizeof *c, 0);
  c->value = 0;
  lua_createtable(L, 0, 2);  // the metatable
  lua_createtable(L, 0, 1);  // the methods
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, counter_add, 1);
  lua_setfield(L, -2, "add");
  lua_pushvalue(L, -2);
  lua_insert(L, -2);
  lua_pushcclosure(L, counter_index, 2);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, counter_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
}

// Values ------------------------------------------------------------------------------------------

static int take_list(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t count = lua_rawlen(L, 1);
  long long *list = malloc(count * sizeof *list);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    int ok;
    list[i] = lua_tointegerx(L, -1, &ok);
    if (!ok) {
      free(list);
      return luaL_error(L, "item %d must be an integer", (int)i + 1);
    }
    lua_pop(L, 1);
  }
  lua_pushinteger(L, count == 0 ? 0 : list[count - 1]);
  free(list);
  return 1;
}

static int give_list(lua_State *L) {
  lua_createtable(L, ITEMS, 0);
  for (int i = 0; i < ITEMS; i++) {
    lua_pushinteger(L, i);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

// A dictionary: open addressing, keys of its own.
struct entry { char *key; size_t length; long long value; };
struct dictionary { struct entry *entries; size_t room, count; };

static struct entry *find(struct dictionary *d, const char *key, size_t length) {
  size_t hash = 14695981039346656037u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)key[i]) * 1099511628211u;
  for (size_t i = hash;; i++) {
    struct entry *e = &d->entries[i & (d->room - 1)];
    if (e->key == NULL || (e->length == length && memcmp(e->key, key, length) == 0)) return e;
  }
}

static void put(struct dictionary *d, const char *key, size_t length, long long value) {
  if (2 * (d->count + 1) > d->room) {
    struct dictionary old = *d;
    d->room = old.room == 0 ? 8 : 2 * old.room;
    d->entries = calloc(d->room, sizeof *d->entries);
    for (size_t i = 0; i < old.room; i++)
      if (old.entries[i].key != NULL)
        *find(d, old.entries[i].key, old.entries[i].length) = old.entries[i];
    free(old.entries);
  }
  struct entry *e = find(d, key, length);
  if (e->key == NULL) {
    e->key = malloc(length + 1);
    memcpy(e->key, key, length + 1);
    e->length = length;
    d->count++;
  }
  e->value = value;
}

static void drop(struct dictionary *d) {
  for (size_t i = 0; i < d->room; i++) free(d->entries[i].key);
  free(d->entries);
}

static int take_dictionary(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  struct dictionary d = {0};
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    size_t length;
    int ok = lua_type(L, -2) == LUA_TSTRING;
    const char *key = ok ? lua_tolstring(L, -2, &length) : NULL;
    long long value = ok ? lua_tointegerx(L, -1, &ok) : 0;
    if (!ok) {
      drop(&d);
      return luaL_error(L, "a table of integers by name is wanted");
    }
    put(&d, key, length, value);
    lua_pop(L, 1);
  }
  lua_pushinteger(L, (lua_Integer)d.count);
  drop(&d);
  return 1;
}

static int give_dictionary(lua_State *L) {
  struct dictionary *d = lua_touserdata(L, lua_upvalueindex(1));
  lua_createtable(L, 0, (int)d->count);
  for (size_t i = 0; i < d->room; i++) {
    if (d->entries[i].key == NULL) continue;
    lua_pushlstring(L, d->entries[i].key, d->entries[i].length);
    lua_pushinteger(L, d->entries[i].value);
    lua_rawset(L, -3);
  }
  return 1;
}

static int echo(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  char *copy = malloc(length + 1);
  memcpy(copy, text, length + 1);
  lua_pushlstring(L, copy, length);
  free(copy);
  return 1;
}

// Records -----------------------------------------------------------------------------------------

struct record {
  long long id;
  double score;
  int active;
  char *name;
  char **tags;
  size_t tag_count;
};

static char *copy_text(lua_State *L, int i) {
  size_t length;
  if (lua_type(L, i) != LUA_TSTRING) luaL_error(L, "a string is wanted");
  const char *text = lua_tolstring(L, i, &length);
  char *copy = malloc(length + 1);
  return memcpy(copy, text, length + 1);
}

static void read_record(lua_State *L, int i, struct record *r) {
  luaL_checktype(L, i, LUA_TTABLE);
  int ok;
  lua_getfield(L, i, "id");
  r->id = lua_tointegerx(L, -1, &ok);
  if (!ok) luaL_error(L, "id must be an integer");
  lua_getfield(L, i, "score");
  r->score = lua_tonumberx(L, -1, &ok);
  if (!ok) luaL_error(L, "score must be a number");
  if (lua_getfield(L, i, "active") != LUA_TBOOLEAN) luaL_error(L, "active must be true or false");
  r->active = lua_toboolean(L, -1);
  lua_getfield(L, i, "name");
  r->name = copy_text(L, -1);
  if (lua_getfield(L, i, "tags") != LUA_TTABLE) luaL_error(L, "tags must be a list");
  r->tag_count = lua_rawlen(L, -1);
  r->tags = malloc(r->tag_count * sizeof *r->tags);
  for (size_t t = 0; t < r->tag_count; t++) {
    lua_rawgeti(L, -1, (lua_Integer)t + 1);
    r->tags[t] = copy_text(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 5);
}

static int take_records(lua_State *L) {
  size_t count = lua_rawlen(L, 1);
  struct record *records = malloc(count * sizeof *records);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    read_record(L, lua_gettop(L), &records[i]);
    lua_pop(L, 1);
  }
  lua_pushinteger(L, count == 0 ? 0 : records[count - 1].id);
  for (size_t i = 0; i < count; i++) {
    for (size_t t = 0; t < records[i].tag_count; t++) free(records[i].tags[t]);
    free(records[i].tags);
    free(records[i].name);
  }
  free(records);
  return 1;
}

void open_crossings(lua_State *L) {
  static const luaL_Reg functions[] = {
    {"call", call}, {"take_list", take_list}, {"give_list", give_list},
    {"take_dictionary", take_dictionary}, {"echo", echo}, {"take_records", take_records},
    {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  static struct dictionary words;
  for (int i = 0; i < WORDS; i++) {
    char key[16];
    put(&words, key, (size_t)snprintf(key, sizeof key, "word%d", i), i);
  }
  lua_pushlightuserdata(L, &words);
  lua_pushcclosure(L, give_dictionary, 1);
  lua_setfield(L, -2, "give_dictionary");
  push_counter(L);
  lua_setfield(L, -2, "counter");
}
