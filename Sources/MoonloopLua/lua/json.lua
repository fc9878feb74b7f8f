-- JSON (RFC 8259), the one codec for consoles, reports, traces and plans: strict in what it reads,
-- total in what it writes. See docs/decisions/0014.
return {
  encode = require "moonloop.json.encode",
  decode = require "moonloop.json.decode",
}
