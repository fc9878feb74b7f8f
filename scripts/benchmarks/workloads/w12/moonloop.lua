-- W12: values that cross between Lua and a program in Swift, which has registered its functions.
require "w12.crossings"(_G)
