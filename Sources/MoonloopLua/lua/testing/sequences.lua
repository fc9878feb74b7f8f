-- Control sequences of terminals (ECMA-48, and what xterm adds), read from what a program writes.
--
-- What is unknown is passed over, as a terminal does; a sequence may come in any number of parts.
local sequences = {}
sequences.__index = sequences

local KEPT = 4096   -- bytes of an unfinished sequence; more is dropped

--- @param screen what is drawn on
function sequences.new(screen)
  return setmetatable({ screen = screen, rest = "", draws_lines = false }, sequences)
end

-- ── colours and styles ───────────────────────────────────────────────────────────────────────────

local NAMES = { [0] = "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white" }
local ON = { [1] = "bold", [2] = "dim", [3] = "italic", [4] = "underline", [5] = "blink",
  [7] = "reverse", [8] = "hidden", [9] = "struck" }
local OFF = { [22] = { "bold", "dim" }, [23] = { "italic" }, [24] = { "underline" },
  [25] = { "blink" }, [27] = { "reverse" }, [28] = { "hidden" }, [29] = { "struck" },
  [39] = { "color" }, [49] = { "background" } }

local function color_of(number)
  if number < 8 then return NAMES[number] end
  if number < 16 then return "bright " .. NAMES[number - 8] end
  return number
end

-- A colour of 256 or of 16 million, from the number after 38 or 48; and how many numbers it takes.
local function long_color(numbers, place)
  if numbers[place] == 5 then return color_of(numbers[place + 1] or 0), 2 end
  if numbers[place] == 2 then
    return ("#%02x%02x%02x"):format((numbers[place + 1] or 0) & 255,
      (numbers[place + 2] or 0) & 255, (numbers[place + 3] or 0) & 255), 4
  end
  return nil, 1
end

local function styled(old, numbers)
  local style = {}
  for name, value in pairs(old) do style[name] = value end
  local place = 1
  while place <= math.max(1, #numbers) do
    local number = numbers[place] or 0
    if number == 0 then style = {}
    elseif ON[number] then style[ON[number]] = true
    elseif OFF[number] then
      for _, name in ipairs(OFF[number]) do style[name] = nil end
    elseif number == 38 or number == 48 then
      local color, taken = long_color(numbers, place + 1)
      style[number == 38 and "color" or "background"] = color
      place = place + taken
    elseif number >= 30 and number <= 37 then style.color = NAMES[number - 30]
    elseif number >= 40 and number <= 47 then style.background = NAMES[number - 40]
    elseif number >= 90 and number <= 97 then style.color = color_of(number - 82)
    elseif number >= 100 and number <= 107 then style.background = color_of(number - 92) end
    place = place + 1
  end
  return style
end

-- ── CSI ──────────────────────────────────────────────────────────────────────────────────────────

-- Erases a part of what comes before and after the cursor: 0 after, 1 before, 2 both.
local function erase_line(screen, part)
  screen:erase(screen.row, part == 0 and screen.column or 1,
    part == 1 and screen.column or screen.columns)
end

local function erase_screen(screen, part)
  for row = 1, screen.rows do
    local is_after, is_before = row > screen.row, row < screen.row
    if part >= 2 or (part == 0 and is_after) or (part == 1 and is_before) then
      screen:erase(row, 1, screen.columns)
    end
  end
  if part < 2 then erase_line(screen, part) end
end

local function is_inside(screen) return screen.row >= screen.top and screen.row <= screen.bottom end

-- By the last byte: the screen, the first number (1 where there is none), all numbers.
local CSI = {
  A = function(screen, count) screen:climb(-count) end,
  B = function(screen, count) screen:climb(count) end,
  C = function(screen, count) screen:move(screen.row, screen.column + count) end,
  D = function(screen, count) screen:move(screen.row, screen.column - count) end,
  E = function(screen, count) screen:climb(count) screen:move(screen.row, 1) end,
  F = function(screen, count) screen:climb(-count) screen:move(screen.row, 1) end,
  G = function(screen, column) screen:move(screen.row, column) end,
  d = function(screen, row) screen:move(row, screen.column) end,
  H = function(screen, row, numbers) screen:move(row, math.max(1, numbers[2] or 1)) end,
  J = function(screen, _, numbers) erase_screen(screen, numbers[1] or 0) end,
  K = function(screen, _, numbers) erase_line(screen, numbers[1] or 0) end,
  L = function(screen, count)
    if is_inside(screen) then screen:scroll(-count, screen.row, screen.bottom) end
  end,
  M = function(screen, count)
    if is_inside(screen) then screen:scroll(count, screen.row, screen.bottom) end
  end,
  P = function(screen, count) screen:shift(-count) end,
  ["@"] = function(screen, count) screen:shift(count) end,
  S = function(screen, count) screen:scroll(count) end,
  T = function(screen, count) screen:scroll(-count) end,
  X = function(screen, count)
    screen:erase(screen.row, screen.column, screen.column + count - 1)
  end,
  c = function(screen) screen.reply "\27[?62;22c" end,
  m = function(screen, _, numbers) screen.style = styled(screen.style, numbers) end,
  n = function(screen, what)
    if what == 6 then screen.reply(("\27[%d;%dR"):format(screen.row, screen.column)) end
    if what == 5 then screen.reply "\27[0n" end
  end,
  r = function(screen, top, numbers)
    local bottom = math.min(numbers[2] or screen.rows, screen.rows)
    if top >= bottom then return end
    screen.top, screen.bottom = top, bottom
    screen:move(1, 1)
  end,
  s = function(screen) screen:save() end,
  u = function(screen) screen:restore() end,
}
CSI.f, CSI["`"], CSI.a, CSI.e = CSI.H, CSI.G, CSI.C, CSI.B

local function set_mode(screen, numbers, is_private, is_on)
  for _, number in ipairs(numbers) do
    if not is_private then
      if number == 4 then screen.inserts = is_on end
    elseif number == 1 then screen.has_application_keys = is_on
    elseif number == 7 then screen.wraps = is_on
    elseif number == 25 then screen.is_visible = is_on
    elseif number == 47 or number == 1047 or number == 1049 then
      if is_on and number == 1049 then screen:save() end
      screen:switch(is_on)
      if not is_on and number == 1049 then screen:restore() end
    end
  end
end

function sequences:control_sequence(private, parameters, between, last)
  local numbers = {}
  for text in (parameters:gsub(":", ";") .. ";"):gmatch "([^;]*);" do
    numbers[#numbers + 1] = math.min(tonumber(text) or 0, 9999)
  end
  if parameters == "" then numbers = {} end
  if between ~= "" then return end
  if last == "h" or last == "l" then
    return set_mode(self.screen, numbers, private == "?", last == "h")
  end
  if private ~= "" then return end
  if last == "b" then
    for _ = 1, self.last and math.min(math.max(1, numbers[1] or 1), 9999) or 0 do
      self.screen:put(self.last)
    end
  elseif CSI[last] then
    CSI[last](self.screen, math.max(1, numbers[1] or 1), numbers)
  end
end

-- ── the rest ─────────────────────────────────────────────────────────────────────────────────────

local CONTROLS = {
  ["\8"] = function(screen) screen:move(screen.row, screen.column - 1) end,
  ["\9"] = function(screen) screen:move(screen.row, (screen.column - 1) // 8 * 8 + 9) end,
  ["\13"] = function(screen) screen:move(screen.row, 1) end,
}
for _, feed in ipairs { "\10", "\11", "\12" } do
  CONTROLS[feed] = function(screen) screen:feed_line(1) end
end

local ESCAPES = {
  ["7"] = function(screen) screen:save() end,
  ["8"] = function(screen) screen:restore() end,
  D = function(screen) screen:feed_line(1) end,
  E = function(screen) screen:feed_line(1) screen:move(screen.row, 1) end,
  M = function(screen) screen:feed_line(-1) end,
  c = function(screen) screen:reset() end,
}

-- The characters that a terminal draws for letters in its set of lines.
local LINES = { j = "┘", k = "┐", l = "┌", m = "└", n = "┼", q = "─", t = "├", u = "┤", v = "┴",
  w = "┬", x = "│", a = "▒", f = "°", g = "±", ["`"] = "◆", ["~"] = "·" }

-- Reads what begins with ESC. Returns the place after it; nil if it has not come whole.
function sequences:escape(text, at)
  local kind = text:sub(at + 1, at + 1)
  if kind == "" then return nil end
  if kind == "[" then
    local first, last, private, parameters, between, letter =
      text:find("^\27%[([<-?]?)([%d;:]*)([ -/]*)([@-~])", at)
    if first then
      self:control_sequence(private, parameters, between, letter)
      return last + 1
    end
    return not text:find("^\27%[[ -?]*$", at) and at + 2 or nil
  end
  if kind:find "[%]P_^X]" then
    local first, last = text:find("\27\\", at + 2, true)
    local bell = kind == "]" and text:find("\7", at + 2, true)
    if bell and not (first and first < bell) then first, last = bell, bell end
    if not first then return nil end
    local title = kind == "]" and text:sub(at + 2, first - 1):match "^[02];(.*)$"
    if title then self.screen.title = title end
    return last + 1
  end
  if kind:find "[()*+#%% ]" then
    local set = text:sub(at + 2, at + 2)
    if set == "" then return nil end
    if kind == "(" then self.draws_lines = set == "0" end
    return at + 3
  end
  if ESCAPES[kind] then ESCAPES[kind](self.screen) end
  return at + 2
end

-- Reads a character. Returns the place after it; nil if it has not come whole.
function sequences:character(text, at)
  local byte = text:byte(at)
  local size = byte < 0x80 and 1 or byte >= 0xf0 and 4 or byte >= 0xe0 and 3 or 2
  local character = text:sub(at, at + size - 1)
  local is_cut = #character < size and not character:find("[^\x80-\xbf]", 2)
  if is_cut then return nil end
  if not utf8.len(character) then character, size = "\u{fffd}", 1 end
  if self.draws_lines then character = LINES[character] or character end
  self.last = character
  self.screen:put(character)
  return at + size
end

--- Draws what a program has written; keeps what has not come whole.
function sequences:feed(bytes)
  local text, at = self.rest .. bytes, 1
  while at <= #text do
    local byte = text:sub(at, at)
    local after
    if byte == "\27" then after = self:escape(text, at)
    elseif byte < " " or byte == "\127" then
      if CONTROLS[byte] then CONTROLS[byte](self.screen) end
      after = at + 1
    else
      after = self:character(text, at)
    end
    if not after then break end
    at = after
  end
  self.rest = #text - at < KEPT and text:sub(at) or ""
end

return sequences
