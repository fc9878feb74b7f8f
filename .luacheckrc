-- luacheck of the examples: what `scripts/lint` runs if it is installed.
std = "lua54"
max_line_length = 100
-- A handler's parameters are written down, used or not; a `<close>` variable need not be read.
ignore = { "212", "211/held", "211/input" }
files["**/*_spec.lua"] = { std = "+busted" }
-- Its globals are there for a console.
files["scripts/examples/attach.lua"] = { allow_defined_top = true, ignore = { "131" } }
files["scripts/examples/plugins/folder"] = { globals = { "answer" }, read_globals = { "host" } }
files["scripts/examples/hummingbird-server"] = { globals = { "handle" }, read_globals = { "visit" } }
