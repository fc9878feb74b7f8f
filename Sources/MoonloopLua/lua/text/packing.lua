-- Texts that are packed in a small program: packaging/static/packed.lua says how.
local packing = {}

--- A text as it was before it was packed; one that is not packed as it is.
function packing.unpacked(text)
  if text:byte() ~= 1 then return text end
  local made, at = "", 2
  while at <= #text do
    local head, high, low = text:byte(at, at + 2)
    if head < 128 then
      made, at = made .. text:sub(at + 1, at + head), at + head + 1
    else
      local first, length = #made - (high - 1) * 255 - (low - 1), head - 124
      local part = made:sub(first, first + length - 1)
      made, at = made .. part:rep(length // #part + 1):sub(1, length), at + 3
    end
  end
  return made
end

return packing
