-- Random order, reproducible by seed.
local shuffle = {}

--- Shuffles a list with a seed. The same seed gives the same order as in busted.
function shuffle.list(list, seed)
  math.randomseed(seed)
  for index = #list, 2, -1 do
    local other = math.random(index)
    list[index], list[other] = list[other], list[index]
  end
  return list
end

--- A random seed, short enough to type.
function shuffle.any_seed()
  local file = io.open("/dev/urandom", "rb")
  local bytes = file and file:read(2)
  if file then file:close() end
  if not bytes then return os.time() % 65536 end
  return (string.unpack("<I2", bytes))
end

return shuffle
