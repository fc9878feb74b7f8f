import LuaEmbed

let lua = try LuaState()
lua.register("add") { (a: Int, b: Int) in a + b }
try lua.run("print(add(1, 2))")
let sum: Int = try lua.evaluate("return add(3, 4)")
print(sum)
