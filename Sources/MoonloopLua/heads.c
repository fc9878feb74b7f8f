// Heads of HTTP/1.1 messages: read from text, and written. Plain functions of Lua's, called without
// the host in between, so that what they raise meets no frame of Swift.
//
// What two readers could understand differently is refused. What is right but rare is left to
// message.lua and fields.lua.
#include <stdbool.h>
#include <string.h>

#include "MoonloopLua.h"
#include "cml_lua.h"

// ── bytes ───────────────────────────────────────────────────────────────────────────────────────

enum {
  VALUE = 1,    // may be in a field's value: no control character but the tab
  VISIBLE = 2,  // neither a space nor a control character
  TOKEN = 4,    // may be in a field's name (RFC 9110, 5.6.2)
  METHOD = 8,   // may be in a method
  TARGET = 16,  // is in most targets; others are right too
  HOST = 32,    // is in most hosts; others are right too
  SEEN = VALUE | VISIBLE,
  WORD = SEEN | TOKEN | TARGET | HOST,
};

static const unsigned char kinds[256] = {
    ['\t'] = VALUE, [' '] = VALUE, ['!'] = SEEN | TOKEN, ['"'] = SEEN,
    ['#' ... '%'] = SEEN | TOKEN, ['&'] = SEEN | TOKEN | TARGET, ['\''] = SEEN | TOKEN,
    ['(' ... ')'] = SEEN, ['*'] = SEEN | TOKEN, ['+'] = SEEN | TOKEN | TARGET, [','] = SEEN,
    ['-'] = WORD | METHOD, ['.'] = WORD, ['/'] = SEEN | TARGET, ['0' ... '9'] = WORD | METHOD,
    [':' ... '<'] = SEEN, ['='] = SEEN | TARGET, ['>'] = SEEN, ['?'] = SEEN | TARGET, ['@'] = SEEN,
    ['A' ... 'Z'] = WORD | METHOD, ['[' ... ']'] = SEEN, ['^'] = SEEN | TOKEN,
    ['_'] = WORD | METHOD, ['`'] = SEEN | TOKEN, ['a' ... 'z'] = WORD, ['{'] = SEEN,
    ['|'] = SEEN | TOKEN, ['}'] = SEEN, ['~'] = SEEN | TOKEN | TARGET, [128 ... 255] = SEEN,
};

struct text {
  const char *at, *end;
};

static size_t count_of(struct text text) { return (size_t)(text.end - text.at); }

static inline bool is(struct text text, const char *word) {
  return count_of(text) == strlen(word) && memcmp(text.at, word, count_of(text)) == 0;
}

static void push(lua_State *L, struct text text) { lua_pushlstring(L, text.at, count_of(text)); }

// Takes the bytes of a kind from the front of a text.
static struct text take(struct text *text, int kind) {
  struct text taken = {text->at, text->at};
  while (taken.end < text->end && kinds[(unsigned char)*taken.end] & kind) taken.end++;
  text->at = taken.end;
  return taken;
}

// Takes a byte from the front of a text, if it is this one.
static bool take_byte(struct text *text, char byte) {
  if (text->at == text->end || *text->at != byte) return false;
  text->at++;
  return true;
}

// ── what is wrong ───────────────────────────────────────────────────────────────────────────────

// Returns nil and what is wrong, about the beginning of a line.
static int refuse(lua_State *L, struct text line, const char *what) {
  lua_pushnil(L);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  luaL_addchar(&buffer, '\'');
  luaL_addlstring(&buffer, line.at, count_of(line) < 40 ? count_of(line) : 40);
  luaL_addstring(&buffer, what);
  luaL_pushresult(&buffer);
  return 2;
}

// Takes a line, without its end.
// Returns what is wrong with its end, or NULL.
// `bare` says whether a line feed alone ends a line too: if two readers differ in that, one can be
// shown a request that the other does not see.
static const char *take_line(struct text *text, bool bare, struct text *line) {
  const char *feed = memchr(text->at, '\n', count_of(*text));
  if (feed == NULL) return "the head is incomplete";
  *line = (struct text){text->at, feed};
  text->at = feed + 1;
  if (line->at < feed && feed[-1] == '\r') line->end--;
  else if (!bare) return "a line ends without a carriage return";
  return NULL;
}

// ── fields ──────────────────────────────────────────────────────────────────────────────────────

// Pushes a name in lower case.
static void push_name(lua_State *L, struct text name) {
  luaL_Buffer buffer;
  char *lower = luaL_buffinitsize(L, &buffer, count_of(name));
  for (size_t i = 0; i < count_of(name); i++) {
    char c = name.at[i];
    lower[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
  }
  luaL_pushresultsize(&buffer, count_of(name));
}

// Adds a value to those of a name that was there before: both are on top, and the name is below
// them. One value with commas is made of them; Set-Cookie is a list, as its values have commas.
static void add_value(lua_State *L, int fields, bool is_cookie) {
  if (lua_type(L, -2) == LUA_TTABLE) {
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    return;
  }
  lua_pushstring(L, is_cookie ? "; " : ", ");
  lua_insert(L, -2);
  lua_concat(L, 3);
  lua_pushvalue(L, -2);
  lua_insert(L, -2);
  lua_rawset(L, fields);
}

// What a server wants to know of the fields.
struct facts {
  struct text host;
  bool is_special;  // one says where the body ends, or that the connection is not kept
};

static void note(struct facts *facts, struct text name, struct text value) {
  if (is(name, "host")) facts->host = value;
  if (is(name, "connection") ? !is(value, "keep-alive")
                             : is(name, "content-length") || is(name, "expect") ||
                                   is(name, "transfer-encoding"))
    facts->is_special = true;
}

// Adds a line to the table of fields at this index. Returns 0, or what it returns of a mistake.
static int add_line(lua_State *L, int fields, struct text line, struct facts *facts) {
  struct text rest = line, name = take(&rest, TOKEN);
  if (name.at == name.end || !take_byte(&rest, ':'))
    return refuse(L, line, "' is not a header field");
  while (rest.at < rest.end && (*rest.at == ' ' || *rest.at == '\t')) rest.at++;
  while (rest.at < rest.end && (rest.end[-1] == ' ' || rest.end[-1] == '\t')) rest.end--;
  struct text value = take(&rest, VALUE);
  if (rest.at < rest.end) return refuse(L, line, "' is not a header field");
  push_name(L, name);
  struct text key = {lua_tostring(L, -1), NULL};
  key.end = key.at + count_of(name);
  lua_pushvalue(L, -1);
  lua_rawget(L, fields);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    note(facts, key, value);
    bool is_list = is(key, "set-cookie");
    if (is_list) lua_createtable(L, 1, 0);
    push(L, value);
    if (is_list) lua_rawseti(L, -2, 1);
    lua_rawset(L, fields);
  } else {
    if (is(key, "host")) {
      lua_pushnil(L);
      lua_pushliteral(L, "'Host' is given twice");
      return 2;
    }
    if (is(key, "connection")) facts->is_special = true;
    push(L, value);
    add_value(L, fields, is(key, "cookie"));
  }
  lua_settop(L, fields);
  return 0;
}

// Adds lines up to the empty one to the table on top. Returns the count of the results that it has
// pushed: whether that line has come; or nil and what is wrong.
static int add_lines(lua_State *L, struct text text, bool bare, struct facts *facts) {
  int fields = lua_gettop(L);
  while (text.at < text.end) {
    struct text line;
    const char *problem = take_line(&text, bare, &line);
    if (problem != NULL) {
      lua_pushnil(L);
      lua_pushstring(L, problem);
      return 2;
    }
    if (line.at == line.end) {
      lua_pushboolean(L, true);
      return 1;
    }
    int results = add_line(L, fields, line, facts);
    if (results != 0) return results;
  }
  lua_pushboolean(L, false);
  return 1;
}

static struct text text_at(lua_State *L, int arg) {
  size_t count;
  const char *bytes = luaL_checklstring(L, arg, &count);
  return (struct text){bytes, bytes + count};
}

// fields(text, from, table, bare): adds the lines of a text from a position on to a table. Returns
// whether the head is complete; or nil and what is wrong.
static int fields(lua_State *L) {
  struct text text = text_at(L, 1);
  struct facts facts = {{NULL, NULL}, false};
  lua_Integer from = luaL_checkinteger(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  bool bare = lua_toboolean(L, 4);
  luaL_argcheck(L, from >= 1 && (size_t)from <= count_of(text) + 1, 2, "out of the text");
  text.at += from - 1;
  lua_settop(L, 3);
  return add_lines(L, text, bare, &facts);
}

// ── requests ────────────────────────────────────────────────────────────────────────────────────

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a host is as most are: a name, perhaps with a port.
static bool is_plain_host(struct text host) {
  struct text name = take(&host, HOST);
  if (name.at == name.end) return false;
  if (host.at == host.end) return true;
  if (!take_byte(&host, ':') || host.at == host.end || count_of(host) > 5) return false;
  int port = 0;
  for (; host.at < host.end && is_digit(*host.at); host.at++) port = 10 * port + (*host.at - '0');
  return host.at == host.end && port <= 65535;
}

static void set(lua_State *L, const char *name, struct text value) {
  push(L, value);
  lua_setfield(L, -2, name);
}

// Sets the path and the query of a target that needs no decoding; returns whether it is one.
static bool split_target(lua_State *L, struct text target) {
  struct text rest = target;
  take(&rest, TARGET);
  if (*target.at != '/' || rest.at < rest.end) return false;
  const char *mark = memchr(target.at, '?', count_of(target));
  set(L, "path", (struct text){target.at, mark == NULL ? target.end : mark});
  set(L, "query_text", (struct text){mark == NULL ? target.end : mark + 1, target.end});
  return true;
}

// How many fields there are, or a few more, but not as many as anybody may send.
static int count_lines(struct text text) {
  int count = 0;
  while (count < 32 && (text.at = memchr(text.at, '\n', count_of(text))) != NULL) {
    text.at++;
    count++;
  }
  return count > 0 ? count - 1 : 0;
}

// request(text, metatable): reads a request line and the lines of fields behind it. Returns
// { method, target, version, headers, path, query_text }, whether the head is complete, whether
// there is nothing else to check in it, and whether besides there is no body and the connection is
// kept; or nil and what is wrong. The path and the query are left out where they need decoding. The
// headers get the metatable.
static int request(lua_State *L) {
  struct text text = text_at(L, 1), line;
  struct facts facts = {{NULL, NULL}, false};
  const char *problem = take_line(&text, false, &line);
  if (problem != NULL) {
    lua_pushnil(L);
    lua_pushstring(L, problem);
    return 2;
  }
  struct text rest = line, method = take(&rest, METHOD);
  bool is_right = method.at < method.end && take_byte(&rest, ' ');
  struct text target = take(&rest, VISIBLE);
  is_right = is_right && target.at < target.end && count_of(rest) == 9 &&
             memcmp(rest.at, " HTTP/", 6) == 0 && is_digit(rest.at[6]) && rest.at[7] == '.' &&
             is_digit(rest.at[8]);
  if (!is_right) return refuse(L, line, "' is not a request");
  struct text version = {rest.at + 6, rest.end};
  lua_createtable(L, 0, 16);  // with what the server adds
  set(L, "method", method);
  set(L, "target", target);
  set(L, "version", version);
  bool is_plain = split_target(L, target) && is(version, "1.1") && !is(method, "CONNECT");
  lua_createtable(L, 0, count_lines(text));
  lua_pushvalue(L, 2);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "headers");
  int results = add_lines(L, text, false, &facts);
  if (results != 1) return results;
  bool is_over = lua_toboolean(L, -1);
  lua_settop(L, 3);
  lua_pushboolean(L, is_over);
  is_plain = is_plain && is_over && facts.host.at != NULL && is_plain_host(facts.host);
  lua_pushboolean(L, is_plain);
  lua_pushboolean(L, is_plain && !facts.is_special);
  return 4;
}

// ── writing ─────────────────────────────────────────────────────────────────────────────────────

enum { FIELDS_MAX = 32 };  // of a head that is written here

struct field {
  struct text name, value;
};

static bool comes_before(struct text a, struct text b) {
  size_t least = count_of(a) < count_of(b) ? count_of(a) : count_of(b);
  int order = memcmp(a.at, b.at, least);
  return order != 0 ? order < 0 : count_of(a) < count_of(b);
}

static bool is_all(struct text text, int kind) {
  take(&text, kind);
  return text.at == text.end;
}

// Collects the fields of the table at 2, sorted by name: they stay on the stack. Returns their
// count, or -1 if one is not a string or number, or could break the head.
static int collect(lua_State *L, struct field *found) {
  int count = 0;
  luaL_checkstack(L, 2 * FIELDS_MAX + 4, NULL);
  for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pushvalue(L, -2)) {
    int type = lua_type(L, -1);
    if (count == FIELDS_MAX || lua_type(L, -2) != LUA_TSTRING) return -1;
    if (type != LUA_TSTRING && type != LUA_TNUMBER) return -1;
    struct field one = {text_at(L, -2), text_at(L, -1)};
    if (one.name.at == one.name.end || !is_all(one.name, TOKEN) || !is_all(one.value, VALUE))
      return -1;
    int place = count++;
    for (; place > 0 && comes_before(one.name, found[place - 1].name); place--)
      found[place] = found[place - 1];
    found[place] = one;
  }
  return count;
}

static char *put(char *at, struct text text) {
  memcpy(at, text.at, count_of(text));
  return at + count_of(text);
}

static char *put_two(char *at, const char *two) {
  memcpy(at, two, 2);
  return at + 2;
}

// write(first, fields): the head with this first line and these fields, sorted by name; nil if they
// are not as most are.
static int write_head(lua_State *L) {
  struct text first = text_at(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  struct field found[FIELDS_MAX];
  int count = collect(L, found);
  if (count < 0) return 0;
  size_t size = count_of(first) + 4;
  for (int i = 0; i < count; i++) size += count_of(found[i].name) + count_of(found[i].value) + 4;
  luaL_Buffer buffer;
  char *at = put(luaL_buffinitsize(L, &buffer, size), first);
  for (int i = 0; i < count; i++) {
    at = put(put_two(at, "\r\n"), found[i].name);
    at = put(put_two(at, ": "), found[i].value);
  }
  put_two(put_two(at, "\r\n"), "\r\n");
  luaL_pushresultsize(&buffer, size);
  return 1;
}

// answer(beginning, ending, body, is_apart): the beginning, the length of the body, the ending, and
// the body unless that is sent apart, or not at all.
static int answer(lua_State *L) {
  struct text beginning = text_at(L, 1), ending = text_at(L, 2), body = text_at(L, 3);
  char digits[24], *first = digits + sizeof digits;
  size_t rest = count_of(body);
  do *--first = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  struct text length = {first, digits + sizeof digits};
  if (lua_toboolean(L, 4)) body.end = body.at;
  size_t size = count_of(beginning) + count_of(length) + count_of(ending) + count_of(body);
  luaL_Buffer buffer;
  char *at = luaL_buffinitsize(L, &buffer, size);
  put(put(put(put(at, beginning), length), ending), body);
  luaL_pushresultsize(&buffer, size);
  return 1;
}

int cmo_open_heads(lua_State *L) {
  const luaL_Reg functions[] = {
      {"answer", answer}, {"fields", fields}, {"request", request}, {"write", write_head},
      {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
