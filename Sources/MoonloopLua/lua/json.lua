-- JSON (RFC 8259), the one codec for consoles, reports, traces and plans: a strict reader, and a
-- writer for any value. See docs/decisions/0014.
return {
  encode = require "moonloop.json.encode",
  decode = require "moonloop.json.decode",
}
