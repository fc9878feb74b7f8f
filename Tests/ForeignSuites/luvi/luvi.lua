-- luvi's module: its Lua files add the rest.
return { version = "2.15.0", options = {} }
