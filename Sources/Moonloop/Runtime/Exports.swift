// A program that imports Moonloop sees the loop and the binding as well.

@_exported public import LuaEmbed
@_exported public import MoonloopCore
