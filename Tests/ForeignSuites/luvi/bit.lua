-- LuaBitOp's functions, as far as luvit uses them: their results are signed, of 32 bits.
local bit = {}

function bit.tobit(number)
  number = number & 0xffffffff
  return number < 0x80000000 and number or number - 0x100000000
end

function bit.band(a, b) return bit.tobit(a & b) end
function bit.bor(a, b) return bit.tobit(a | b) end
function bit.bxor(a, b) return bit.tobit(a ~ b) end
function bit.lshift(number, by) return bit.tobit(number << (by & 31)) end
function bit.rshift(number, by) return bit.tobit((number & 0xffffffff) >> (by & 31)) end
function bit.tohex(number, digits)
  return ("%08x"):format(number & 0xffffffff):sub(-(digits or 8))
end

return bit
