// The host's userdata: a small block of plain words with a closed metatable. A pointer in the
// block, which only we write, identifies its type, faster than a metatable's name.
#include <stdlib.h>
#include <string.h>

#include "cml_internal.h"

struct cml_kind {
  struct cml_state *s;
  char *name;
  cml_object_release release;
  void *context;
  // Registry references. Methods are functions, getters are not; once sealed, one table has both.
  int metatable, methods, getters, setters;
  int plain;  // the metatable without the finalizer; 0 until an object needs it
  int others, set_others;  // registry references of cells, for fields that are no members; 0: none
  cml_kind *parent;        // whose members it also has
  bool is_parent;
  int user_values, members;
  int tag;  // for the code that made it
  size_t native;  // what each object stands for outside of Lua's memory
  cml_kind_open open;  // adds the members before the first object is made; then NULL
};

// All kinds of a state are in blocks, so that ours are known by their addresses. A state has more
// than one block only if the program makes many kinds: ours, 35 or so, fit into one.
enum { BLOCK_KINDS = 40, METAMETHODS = 8 };
struct cml_kinds {
  struct cml_kinds *next;
  size_t count;
  cml_kind kinds[BLOCK_KINDS];
};

static int guards;  // its address is the registry key of the table: userdata -> what ends with it

const char *cml_kind_name(cml_kind *k) { return k->name; }
void *cml_kind_context(cml_kind *k) { return k->context; }
void cml_kind_set_tag(cml_kind *k, int tag) { k->tag = tag; }
void cml_kind_set_native(cml_kind *k, size_t bytes) { k->native = bytes; }

// Whether the object at an index is of a kind that has the members of another.
static bool is_below(lua_State *L, int i, const cml_kind *kind) {
  cml_object *o = cml_any_object(L, i);
  if (o == NULL) return false;
  const cml_kind *k = o->kind;
  while (k != NULL && k != kind) k = k->parent;
  return k != NULL;
}

bool cml_is_over(lua_State *L, int i) {
  cml_object *o = cml_any_object(L, i);
  return o != NULL && !o->live;
}

cml_object *cml_to_object(lua_State *L, int i, cml_kind *kind) {
  cml_object *o = lua_touserdata(L, i);
  // A light userdata has no length: its address is never followed.
  if (o == NULL || lua_rawlen(L, i) != sizeof *o) return NULL;
  if (UNLIKELY(o->kind != kind) && !(kind->is_parent && is_below(L, i, kind))) return NULL;
  return o->live ? o : NULL;  // a finalizer may still reach an object that was collected
}

cml_object *cml_any_object(lua_State *L, int i) {
  cml_object *o = lua_touserdata(L, i);
  if (o == NULL || lua_rawlen(L, i) != sizeof *o) return NULL;
  // The words of other libraries' userdata are compared, never followed.
  uintptr_t address = (uintptr_t)o->kind;
  for (struct cml_kinds *b = cml_of(L)->kinds; b != NULL; b = b->next) {
    uintptr_t offset = address - (uintptr_t)b->kinds;
    if (offset < b->count * sizeof *b->kinds && offset % sizeof *b->kinds == 0) return o;
  }
  return NULL;
}

cml_object *cml_tagged_object(lua_State *L, int i, int *tag) {
  cml_object *o = cml_any_object(L, i);
  if (o == NULL || !o->live || o->kind->tag == 0) return NULL;
  *tag = o->kind->tag;
  return o;
}

static int finalize(lua_State *L) {
  cml_object *o = cml_any_object(L, 1);
  if (o == NULL || !o->live) return 0;
  o->live = false;
  if (o->kind->release == NULL) return 0;
  struct cml_state *s = cml_of(L);
  s->native -= o->kind->native;
  bool guarded = s->guarded;
  s->guarded = false;
  o->kind->release(o);
  s->guarded = guarded;
  return 0;
}

// Fields ------------------------------------------------------------------------------------------

// Pushes the name in the table that is nearest to the key, if any is close. [-0, +1, m]
static const char *nearest(lua_State *L, int table, const char *key, const char *best, int *least) {
  lua_pushnil(L);
  while (lua_next(L, table)) {
    lua_pop(L, 1);
    const char *name = lua_tostring(L, -1);  // our own tables have string keys only
    int distance = cml_distance(key, name, *least - 1);
    if (distance < *least) *least = distance, best = name;
  }
  return best;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Pushes the names of all members, if they are few enough to read; otherwise "". [-0, +1, e]
static void push_members(lua_State *L, cml_kind *k) {
  enum { MEMBERS = 24 };
  const char *names[MEMBERS];
  int count = 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->methods);
  lua_pushnil(L);
  while (lua_next(L, -2)) {  // the table holds its keys
    lua_pop(L, 1);
    if (count == MEMBERS) {
      lua_pushliteral(L, "");
      return;
    }
    names[count++] = lua_tostring(L, -1);
  }
  qsort(names, (size_t)count, sizeof *names, by_name);
  lua_pushstring(L, count == 0 ? "" : "; it has ");
  for (int i = 0; i < count; i++) {
    lua_pushfstring(L, i == 0 ? "%s" : ", %s", names[i]);
    lua_concat(L, 2);
  }
}

// "invalidate", if the members at -1 have it and the key is what other libraries call it. [-0, +0]
static const char *ending(lua_State *L, const char *key) {
  static const char *const verbs[] = {"cancel", "stop", "close", "clear", "destroy", "remove"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    if (strcmp(key, verbs[i]) != 0) continue;
    lua_pushliteral(L, "invalidate");
    bool has = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 1);
    return has ? "invalidate" : NULL;
  }
  return NULL;
}

// Raises: the object at 1 has no such field (the key is at 2).
static int unknown_field(lua_State *L, cml_kind *k, const char *verb) {
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
  int least = cml_distance_limit(key) + 1;
  const char *best = NULL;
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->methods);
  const char *end_word = ending(L, key);
  best = nearest(L, lua_gettop(L), key, best, &least);
  if (end_word != NULL && least > 0) best = end_word;
  char site[CML_SITE_BYTES];
  cml_site(L, site);
  if (best == NULL) {
    push_members(L, k);
    lua_pushfstring(L, "%s: %s field '%s'%s%s", k->name, verb, key, site, lua_tostring(L, -1));
  } else if (least == 0)  // the nearest is the word itself: it exists, but cannot be set
    lua_pushfstring(L, "%s: %s field '%s'%s", k->name, verb, key, site);
  else
    lua_pushfstring(L, "%s: %s field '%s'%s; did you mean '%s'?", k->name, verb, key, site, best);
  return lua_error(L);
}

// Upvalue: methods and getters together. `index_methods`, the metamethod of that table, handles all
// other keys, so the key need not be kept here.
static int index_object(lua_State *L) {
  if (LIKELY(lua_gettable(L, lua_upvalueindex(1)) == LUA_TFUNCTION)) return 1;
  return cml_call_member(L, 1);
}

// The same for kinds that answer for other fields. Upvalues: 1 methods and getters, 2 the kind.
static int index_others(lua_State *L) {
  lua_pushvalue(L, 2);
  int type = lua_rawget(L, lua_upvalueindex(1));
  if (type == LUA_TFUNCTION) return 1;
  if (type != LUA_TNIL) return cml_call_member(L, 1);
  cml_kind *k = lua_touserdata(L, lua_upvalueindex(2));
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->others);
  return cml_call_member(L, 2);
}

static int index_methods(lua_State *L) {
  return unknown_field(L, lua_touserdata(L, lua_upvalueindex(1)), "unknown");
}

// Upvalues: 1 setters, 2 the kind.
static int set_field(lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL) {
    cml_kind *k = lua_touserdata(L, lua_upvalueindex(2));
    if (k->set_others != 0) {
      lua_rawgeti(L, LUA_REGISTRYINDEX, k->set_others);
      return cml_call_member(L, 3);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, k->getters);
    lua_pushvalue(L, 2);
    int type = lua_rawget(L, -2);
    bool is_field = type != LUA_TNIL && type != LUA_TFUNCTION;
    return unknown_field(L, k, is_field ? "cannot set" : "unknown");
  }
  lua_copy(L, 3, 2);  // object and value; the setter is on top
  return cml_call_member(L, 2);
}

// Kinds -------------------------------------------------------------------------------------------

// A table with room for this many fields.
static int new_table(lua_State *L, int room) {
  lua_createtable(L, 0, room);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

static cml_kind *new_kind(struct cml_state *s) {
  if (s->kinds == NULL || s->kinds->count == BLOCK_KINDS) {
    struct cml_kinds *block = calloc(1, sizeof *block);
    if (block == NULL) abort();
    block->next = s->kinds;
    s->kinds = block;
  }
  return &s->kinds->kinds[s->kinds->count++];
}

cml_kind *cml_kind_new(cml_state *s, const char *name, int user_values,
                       cml_object_release release, cml_kind_open open, void *context) {
  cml_kind *k = new_kind(s);
  char *copy = strdup(name);
  if (copy == NULL) abort();
  *k = (cml_kind){.s = s, .name = copy, .release = release, .open = open, .context = context,
                  .user_values = user_values};
  return k;
}

void cml_kind_begin(cml_kind *k, lua_State *L, int members) {
  struct cml_work work;
  cml_begin_work(k->s, L, &work);
  luaL_checkstack(L, 16, NULL);
  k->members = members;
  k->metatable = new_table(L, METAMETHODS);
  k->methods = new_table(L, members);
  k->getters = new_table(L, 0);
  k->setters = new_table(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->metatable);
  lua_pushstring(L, "__name");
  lua_pushstring(L, k->name);
  lua_rawset(L, -3);
  lua_pushstring(L, "__metatable");
  lua_pushstring(L, k->name);
  lua_rawset(L, -3);
  lua_pushstring(L, "__gc");
  lua_pushcclosure(L, finalize, 0);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  cml_end_work(k->s, L, &work);
}

void cml_kind_set(cml_kind *k, lua_State *L, int where, const char *name) {
  struct cml_work work;
  cml_begin_work(k->s, L, &work);
  if (where == CML_OTHERS || where == CML_SET_OTHERS) {
    int *ref = where == CML_OTHERS ? &k->others : &k->set_others;
    luaL_unref(L, LUA_REGISTRYINDEX, *ref == 0 ? LUA_NOREF : *ref);
    *ref = luaL_ref(L, LUA_REGISTRYINDEX);
    cml_end_work(k->s, L, &work);
    return;
  }
  int tables[] = {k->methods, k->getters, k->setters, k->metatable};
  if (k->parent != NULL && (where == CML_METHOD || where == CML_GETTER)) {
    // The parent's member of this name may be of the other form.
    lua_rawgeti(L, LUA_REGISTRYINDEX, tables[where == CML_METHOD ? CML_GETTER : CML_METHOD]);
    lua_pushstring(L, name);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, tables[where]);
  lua_pushstring(L, name);
  lua_rotate(L, -3, -1);  // table, name, function
  lua_rawset(L, -3);
  lua_pop(L, 1);
  cml_end_work(k->s, L, &work);
}

static bool has_fields(lua_State *L, int ref) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_pushnil(L);
  bool any = lua_next(L, -2);
  lua_pop(L, any ? 3 : 1);
  return any;
}

enum { METHODS = 1, OTHERS = 2, ALL = METHODS | OTHERS };

// Copies the fields of one table of ours to another, but not `without`: functions, others, or all.
static void copy_fields(lua_State *L, int from, int to, int which, const char *without) {
  luaL_checkstack(L, 8, NULL);
  lua_rawgeti(L, LUA_REGISTRYINDEX, to);
  lua_rawgeti(L, LUA_REGISTRYINDEX, from);
  lua_pushnil(L);
  while (lua_next(L, -2)) {  // to, from, key, value
    bool is_left = without != NULL && strcmp(lua_tostring(L, -2), without) == 0;
    lua_pushvalue(L, -2);
    lua_insert(L, -2);  // to, from, key, key, value
    bool is_copied = !is_left && (which & (lua_isfunction(L, -1) ? METHODS : OTHERS)) != 0;
    if (is_copied) lua_rawset(L, -5);
    else lua_pop(L, 2);
  }
  lua_pop(L, 2);
}

// A separate reference to the same cell.
static int copy_ref(lua_State *L, int ref) {
  if (ref == 0) return 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

void cml_kind_extend(cml_kind *k, lua_State *L, cml_kind *parent) {
  struct cml_work work;
  cml_begin_work(k->s, L, &work);
  k->parent = parent;
  parent->is_parent = true;
  copy_fields(L, parent->methods, k->methods, METHODS, NULL);
  copy_fields(L, parent->getters, k->getters, OTHERS, NULL);
  copy_fields(L, parent->setters, k->setters, ALL, NULL);
  // What the kind adds later takes the place of this.
  static const char *const own[] = {"__name", "__metatable"};
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->metatable);
  copy_fields(L, parent->metatable, k->metatable, ALL, NULL);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    lua_pushstring(L, own[i]);
    lua_pushstring(L, k->name);
    lua_rawset(L, -3);
  }
  lua_pop(L, 1);
  k->others = copy_ref(L, parent->others);
  k->set_others = copy_ref(L, parent->set_others);
  cml_end_work(k->s, L, &work);
}

// Makes the table on top of the stack raise an error for missing fields.
static void refuse_unknown(lua_State *L, cml_kind *k) {
  lua_createtable(L, 0, 1);
  lua_pushstring(L, "__index");
  lua_pushlightuserdata(L, k);
  lua_pushcclosure(L, index_methods, 1);
  lua_rawset(L, -3);
  lua_setmetatable(L, -2);
}

void cml_kind_seal(cml_kind *k, lua_State *L) {
  struct cml_work work;
  cml_begin_work(k->s, L, &work);
  if (has_fields(L, k->getters) || k->others != 0) {
    copy_fields(L, k->getters, k->methods, ALL, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, k->methods);
    if (k->others != 0) {
      lua_pushlightuserdata(L, k);
      lua_pushcclosure(L, index_others, 2);
    } else {
      refuse_unknown(L, k);
      lua_pushcclosure(L, index_object, 1);
    }
  } else {  // a plain table is found without a call
    lua_rawgeti(L, LUA_REGISTRYINDEX, k->methods);
    refuse_unknown(L, k);
  }
  luaL_unref(L, LUA_REGISTRYINDEX, k->getters);
  k->getters = k->methods;
  cml_kind_set(k, L, CML_META, "__index");
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->setters);
  lua_pushlightuserdata(L, k);
  lua_pushcclosure(L, set_field, 2);
  cml_kind_set(k, L, CML_META, "__newindex");
  cml_end_work(k->s, L, &work);
}

static __attribute__((noinline)) void make_plain(lua_State *L, cml_kind *k) {
  struct cml_work work;
  cml_begin_work(k->s, L, &work);
  int plain = new_table(L, METAMETHODS);
  copy_fields(L, k->metatable, plain, ALL, "__gc");
  k->plain = plain;
  cml_end_work(k->s, L, &work);
}

static __attribute__((noinline)) void open_kind(lua_State *L, cml_kind *k) {
  cml_kind_open open = k->open;
  k->open = NULL;
  open(k, L);
}

void cml_open_kinds(cml_state *s) {
  for (struct cml_kinds *b = s->kinds; b != NULL; b = b->next)
    for (size_t i = 0; i < b->count; i++)
      if (b->kinds[i].open != NULL) open_kind(s->running, &b->kinds[i]);
}

static inline cml_object *push_object(lua_State *L, cml_kind *k, bool finalized) {
  cml_object *o;
  if (UNLIKELY(k->open != NULL)) open_kind(L, k);
  if (UNLIKELY(!finalized && k->plain == 0)) make_plain(L, k);
  if (LIKELY(cml_is_charged(k->s, L))) {
    o = lua_newuserdatauv(L, sizeof *o, k->user_values);
  } else {
    struct cml_work work;
    cml_begin_work(k->s, L, &work);
    o = lua_newuserdatauv(L, sizeof *o, k->user_values);
    cml_end_work(k->s, L, &work);
  }
  *o = (cml_object){.kind = k};
  lua_rawgeti(L, LUA_REGISTRYINDEX, finalized ? k->metatable : k->plain);
  lua_setmetatable(L, -2);
  return o;
}

cml_object *cml_push_object(lua_State *L, cml_kind *k) {
  cml_object *o = push_object(L, k, true);
  k->s->native += k->native;
  return o;
}

void cml_change_kind(lua_State *L, cml_kind *k) {
  cml_object *o = lua_touserdata(L, -1);
  if (LIKELY(o->kind == k)) return;
  if (UNLIKELY(k->open != NULL)) open_kind(L, k);
  o->kind = k;
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->metatable);
  lua_setmetatable(L, -2);
}

cml_object *cml_push_handle(lua_State *L, cml_kind *k, int function) {
  function = lua_absindex(L, function);
  cml_object *o = push_object(L, k, false);
  o->live = true;
  lua_pushvalue(L, function);
  lua_setiuservalue(L, -2, 1);
  return o;
}

cml_object *cml_push_held(lua_State *L, cml_kind *k, int function, int *ref) {
  function = lua_absindex(L, function);
  cml_object *o = push_object(L, k, false);
  o->live = true;
  *ref = cml_hold(L, -1, function);
  return o;
}

void cml_unhold_handle(lua_State *L, int ref) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref + 1);
  lua_setiuservalue(L, -2, 1);
  cml_unhold(L, ref);
}

void cml_finalize_handle(lua_State *L, int i, cml_kind *k) {
  i = lua_absindex(L, i);
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->metatable);
  lua_setmetatable(L, i);
}

void cml_guard_handle(lua_State *L, int i, cml_kind *k) {
  i = lua_absindex(L, i);
  struct cml_work work;
  cml_begin_work(k->s, L, &work);
  luaL_checkstack(L, 6, NULL);
  lua_getmetatable(L, i);
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->metatable);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &guards);
  lua_pushvalue(L, i);
  if (!lua_rawequal(L, -4, -3) && lua_rawget(L, -2) == LUA_TNIL) {
    lua_pushvalue(L, i);
    cml_object *guard = push_object(L, k, true);
    *guard = *(cml_object *)lua_touserdata(L, i);
    lua_rawset(L, -4);
  }
  lua_pop(L, 4);
  cml_end_work(k->s, L, &work);
}

void cml_userdata_set_up(lua_State *L) {
  cml_identity_set_up(L);
  cml_make_weak(L, "k", &guards);
}

void cml_userdata_close(struct cml_state *s) {
  while (s->kinds != NULL) {
    struct cml_kinds *block = s->kinds;
    s->kinds = block->next;
    for (size_t i = 0; i < block->count; i++) free(block->kinds[i].name);
    free(block);
  }
}
