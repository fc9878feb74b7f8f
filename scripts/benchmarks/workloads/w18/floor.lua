-- W18: values that cross between Lua and a program in C.
require "w18.crossings"(require "floor")
