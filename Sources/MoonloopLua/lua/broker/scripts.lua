-- What ports ask a Redis server to do at once: scripts that it runs between two other commands.
-- KEYS[1] is the queue, a stream whose entries are the messages that are not yet acknowledged.
local scripts = {}

--- Adds messages in order while there is room; how many of the batch are in the queue now. A batch
--- that is sent again after a lost reply adds nothing twice: KEYS[2] is the last number.
-- ARGV: capacity, then number, kind, text, reply and deadline of each; numbers rise
scripts.SEND = [[
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local room = tonumber(ARGV[1]) - redis.call('XLEN', KEYS[1])
local taken = 0
for i = 2, #ARGV, 5 do
  local number = tonumber(ARGV[i])
  if number > last then
    if room <= 0 then break end
    redis.call('XADD', KEYS[1], '*', ARGV[i + 1], ARGV[i + 2], 'r', ARGV[i + 3], 't', ARGV[i + 4])
    room, last = room - 1, number
  end
  taken = taken + 1
end
redis.call('SET', KEYS[2], last, 'EX', 86400)
return taken]]

--- Acknowledges a message, if it still is this receiver's, and publishes the reply to it.
-- ARGV: message, receiver, channel and text of the reply. 1: done; 0: another receiver has it;
-- 2: it is not in the queue any more
scripts.ACKNOWLEDGE = [[
local id = ARGV[1]
if #redis.call('XPENDING', KEYS[1], 'moonloop', id, id, 1, ARGV[2]) == 0 then
  return #redis.call('XRANGE', KEYS[1], id, id) == 0 and 2 or 0
end
if ARGV[3] ~= '' then redis.call('PUBLISH', ARGV[3], ARGV[4]) end
redis.call('XACK', KEYS[1], 'moonloop', id)
redis.call('XDEL', KEYS[1], id)
return 1]]

--- Renews the lease of those messages that still are this receiver's: 1 for each of them, else 0.
-- ARGV: receiver, messages
scripts.RENEW = [[
local mine = {}
for i = 2, #ARGV do
  mine[i - 1] = #redis.call('XPENDING', KEYS[1], 'moonloop', ARGV[i], ARGV[i], 1, ARGV[1])
  if mine[i - 1] > 0 then
    redis.call('XCLAIM', KEYS[1], 'moonloop', ARGV[1], 0, ARGV[i], 'JUSTID')
  end
end
return mine]]

--- Takes over messages whose lease has passed; those given out too often go to KEYS[2].
-- ARGV: receiver, lease in milliseconds, how many, how often one may be given out
scripts.TAKE_OVER = [[
local found = {}
local late = redis.call('XPENDING', KEYS[1], 'moonloop', 'IDLE', ARGV[2], '-', '+', ARGV[3])
for _, one in ipairs(late) do
  local entry = redis.call('XRANGE', KEYS[1], one[1], one[1])[1]
  if not entry or one[4] >= tonumber(ARGV[4]) then
    if entry then redis.call('XADD', KEYS[2], '*', unpack(entry[2])) end
    redis.call('XACK', KEYS[1], 'moonloop', one[1])
    redis.call('XDEL', KEYS[1], one[1])
  else
    local taken = redis.call('XCLAIM', KEYS[1], 'moonloop', ARGV[1], ARGV[2], one[1])
    if taken[1] then found[#found + 1] = taken[1] end
  end
end
return found]]

return scripts
