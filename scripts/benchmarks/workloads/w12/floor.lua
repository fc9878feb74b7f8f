-- W12: values that cross between Lua and a program in C.
require "w12.crossings"(require "floor")
