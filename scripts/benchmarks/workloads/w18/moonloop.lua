-- W18: values that cross between Lua and a program in Swift, which has registered its functions.
require "w18.crossings"(_G)
