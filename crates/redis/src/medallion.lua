-- The same as lock.lua for names that are shared with .NET's DistributedLock (DistributedLock.Redis
-- 1.1): its keys, its values, its rules. What those have not got is not here either: no tokens, no
-- line of those who wait, nobody is told anything, and readers share one lease.
--
--   Mutex               NAME           a string: who holds it
--   Read/write lock     NAME.readers   a set of those who read
--                       NAME.writer    a string: who writes, or who wants to, with _WRITERWAITING after it
--   Semaphore           NAME           a sorted set of holders by the end of their leases

if redis.replicate_commands then redis.replicate_commands() end

local call = redis.call

local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local DONE, BUSY, GONE, FAILED = 1, 2, 4, -1
local EXCLUSIVE, READ, WRITE, PERMIT = 1, 2, 4, 5

local WAITING = '_WRITERWAITING'

local function whole(number)
  return string.format('%.0f', number)
end

local function extend(key, lease)
  if call('PTTL', key) < lease then call('PEXPIRE', key, lease) end
end

-- Whoever is not one of ours is shown by its name.
local function shown(id, mode, of)
  local ours = string.match(id, '^lockwork/.*_(' .. string.rep('[%w_-]', 22) .. ')$')
  return { ours or string.rep('A', 22), mode, of, 0, 0, id }
end

local mutex = {}

function mutex.take(key, id, lease)
  if call('SET', key, id, 'NX', 'PX', lease) then return DONE, 0 end
  if call('GET', key) == id then
    call('PEXPIRE', key, lease)
    return DONE, 0
  end
  return BUSY, call('PTTL', key)
end

function mutex.renew(key, id, lease)
  if call('GET', key) ~= id then return GONE, 0 end
  call('PEXPIRE', key, lease)
  return DONE, 0
end

function mutex.give(key, id)
  if call('GET', key) == id then call('DEL', key) end
  return DONE, 0
end

function mutex.leave()
  return DONE, 0
end

function mutex.clear(key)
  return call('DEL', key)
end

function mutex.holders(key)
  local id = call('GET', key)
  return id and { shown(id, EXCLUSIVE, 0) } or {}
end

local read = {}

function read.take(key, id, lease)
  local readers = key .. '.readers'
  if call('SISMEMBER', readers, id) == 0 then
    if call('EXISTS', key .. '.writer') == 1 then return BUSY, call('PTTL', key .. '.writer') end
    call('SADD', readers, id)
  end
  extend(readers, lease)
  return DONE, 0
end

function read.renew(key, id, lease)
  if call('SISMEMBER', key .. '.readers', id) == 0 then return GONE, 0 end
  extend(key .. '.readers', lease)
  return DONE, 0
end

function read.give(key, id)
  call('SREM', key .. '.readers', id)
  return DONE, 0
end

read.leave = mutex.leave

local write = {}

function write.take(key, id, lease, _, waits)
  local there = call('GET', key .. '.writer')
  if there == id then
    call('PEXPIRE', key .. '.writer', lease)
    return DONE, 0
  end
  if there and there ~= id .. WAITING then return BUSY, call('PTTL', key .. '.writer') end
  if call('SCARD', key .. '.readers') == 0 then
    call('SET', key .. '.writer', id, 'PX', lease)
    return DONE, 0
  end
  -- Keeps new readers out, as one of theirs does.
  if waits then
    call('SET', key .. '.writer', id .. WAITING, 'PX', lease)
  elseif there then
    call('DEL', key .. '.writer')
  end
  return BUSY, call('PTTL', key .. '.readers')
end

function write.renew(key, id, lease)
  return mutex.renew(key .. '.writer', id, lease)
end

function write.give(key, id)
  return mutex.give(key .. '.writer', id)
end

function write.leave(key, id)
  return mutex.give(key .. '.writer', id .. WAITING)
end

function write.clear(key)
  local count = call('SCARD', key .. '.readers')
  local writer = call('GET', key .. '.writer')
  if writer and string.sub(writer, -#WAITING) ~= WAITING then count = count + 1 end
  call('DEL', key .. '.readers', key .. '.writer')
  return count
end

function write.holders(key)
  local said = {}
  for _, id in ipairs(call('SMEMBERS', key .. '.readers')) do said[#said + 1] = shown(id, READ, 0) end
  local writer = call('GET', key .. '.writer')
  if writer and string.sub(writer, -#WAITING) ~= WAITING then
    said[#said + 1] = shown(writer, WRITE, 0)
  end
  return said
end

local semaphore = {}

local function forget_expired(key)
  call('ZREMRANGEBYSCORE', key, '-inf', whole(now))
end

function semaphore.take(key, id, lease, of)
  forget_expired(key)
  if not call('ZSCORE', key, id) and call('ZCARD', key) >= of then
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    return BUSY, first[2] and tonumber(first[2]) - now or -1
  end
  call('ZADD', key, whole(now + lease), id)
  extend(key, lease * 3)
  return DONE, 0
end

function semaphore.renew(key, id, lease)
  forget_expired(key)
  if not call('ZSCORE', key, id) then return GONE, 0 end
  call('ZADD', key, whole(now + lease), id)
  extend(key, lease * 3)
  return DONE, 0
end

function semaphore.give(key, id)
  call('ZREM', key, id)
  return DONE, 0
end

semaphore.leave = mutex.leave

function semaphore.clear(key)
  forget_expired(key)
  local count = call('ZCARD', key)
  call('DEL', key)
  return count
end

function semaphore.holders(key)
  forget_expired(key)
  local said = {}
  for _, id in ipairs(call('ZRANGE', key, 0, -1)) do said[#said + 1] = shown(id, PERMIT, 1) end
  return said
end

local kinds = { [EXCLUSIVE] = mutex, [READ] = read, [WRITE] = write, [PERMIT] = semaphore }

local function do_one(at)
  local errand = ARGV[8 + #KEYS + at]
  local name, mode, lease, more = string.match(errand, '^(%a+) (%d+) (%d+) (%d+)$')
  local key, kind = KEYS[at], kinds[tonumber(mode)]
  local id = 'lockwork/' .. ARGV[2] .. '_' .. string.sub(ARGV[8 + at], 2)
  lease, more = tonumber(lease), tonumber(more)
  if name == 'take' then return kind.take(key, id, lease, more, false) end
  if name == 'wait' then return kind.take(key, id, lease, more, true) end
  if name == 'renew' then return kind.renew(key, id, lease) end
  if name == 'give' then return kind.give(key, id) end
  if name == 'leave' then return kind.leave(key, id) end
  if name == 'break' then return DONE, kind.clear(key) end
  return DONE, { kind.holders(key), {} }
end

-- The words are those of call.lua, where nothing comes first.
local answer = { ARGV[1], 1, 0 }
for at = 1, #KEYS do
  local fine, verdict, value = pcall(do_one, at)
  if not fine then
    verdict, value = FAILED, type(verdict) == 'table' and verdict.err or tostring(verdict)
  end
  local done = verdict == DONE and type(value) == 'number'
  answer[at + 3] = done and value or { verdict, value }
end
return answer
