-- All that is ever done with a lock. This stands inside of call.lua, which says how it is called.
--
-- What a lock is made of, all in the slot of its key:
--   KEY        who holds it. Mutex: "-OWNER PLACE COUNT SINCE CLIENT". Its token is COUNT and PLACE, and it ends
--              with its lease. With "+END " in front of that, whoever gives it back looks closely, as somebody may
--              wait for it, or is buried; then its lease ends at END, and the key later, so that whoever comes
--              between looks closely too. It is "?" if nobody holds it and whoever takes it has to look closely.
--              So nobody waits, and nobody is buried, where there is no key.
--              Read/write lock: a packed list of holders, each with a lease of its own.
--              Semaphore: a sorted set of owners by the end of their leases.
--   KEY:i      of a semaphore, "SINCE CLIENT" by owner.
--   KEY:t      of a read/write lock, the last token, for two days at least; in a cluster, of a mutex too. Where
--              one script reaches all, mutexes have one count together, which COUNT names.
--   KEY:q      a packed list of those who wait, the first to come first.
--   KEY:b      of a mutex, until when an owner is buried.
--   KEY:d:OWN  nothing is granted to this owner any more: it is buried.
--
-- Time is this server's alone, in milliseconds. What is renewed is never made longer in memory, so
-- that anything is renewed and given back even where the memory is full: a script that has begun to
-- write is not stopped then, so it begins with a write that needs no memory.

-- One who waits asks again at least every second.
local WAITER_LASTS = 3000
-- For so long the lock is kept for the one whose turn it is.
local TURN_LASTS = 1000

local FOREIGN = 'WRONGTYPE this key holds something else'
-- What the names of all clients begin with, and is not kept of them.
local OURS = 'lockwork/'

local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function whole(number)
  return string.format('%.0f', number)
end

-- The last token, if it is known.
local function last_token(key)
  local text = call('GET', key .. ':t')
  if not text then return end
  return tonumber(text) or error(FOREIGN)
end

-- One more than the last; where nobody knows that, what time it is.
local function next_token(key, lease)
  local last = last_token(key)
  local token = last and last + 1 or now
  if token < NEW then token = now end
  call('SET', key .. ':t', whole(token), 'PX', whole(math.max(TOKEN_LASTS, 2 * lease)))
  return token
end

-- Those who wait: { OWNER, INBOX, MODE, OF, EXPIRES, TURN ENDS or 0 }. -------------------------------

local function waiting(packed)
  if not packed then return {} end
  local live = {}
  for _, waiter in ipairs(cmsgpack.unpack(packed)) do
    if waiter[5] > now then live[#live + 1] = waiter end
  end
  return live
end

-- Never fails: where there is no room for it those who wait ask again by themselves.
local function keep_waiting(key, queue)
  if #queue == 0 then
    call('DEL', key .. ':q')
  else
    try('SET', key .. ':q', cmsgpack.pack(queue), 'PX', WAITER_LASTS)
  end
end

local function place_of(queue, owner)
  for at, waiter in ipairs(queue) do
    if waiter[1] == owner then return at end
  end
end

local function begin_turn(key, waiter)
  if waiter[6] == 0 then
    waiter[6] = now + TURN_LASTS
    try('PUBLISH', waiter[2], key)
  end
end

-- Who is in. Each kind knows how to look (`room`), which says whether a mode may come in beside those
-- who are, and beside those whom `admit` has counted in since.

local function go_together(one, other)
  return (one == READ and (other == READ or other == UPGRADEABLE))
    or (one == UPGRADEABLE and other == READ)
end

-- Begins the turn of everybody who may come in now.
local function wake(key, queue, room)
  for _, waiter in ipairs(queue) do
    if not room.has(waiter[3], waiter[4]) then return end
    begin_turn(key, waiter)
    room.admit(waiter[3])
  end
end

-- Whether somebody waits who is to come in before `owner`; then for how long, if that is known. One
-- who had its turn and did not come has to wait anew.
local function somebody_before(key, queue, room, owner, mode)
  local at = 1
  while at <= #queue do
    local waiter = queue[at]
    if waiter[1] == owner then return false end
    if mode == PERMIT or not go_together(waiter[3], mode) then
      if not room.has(waiter[3], waiter[4]) then
        -- It cannot come in either. Two of one size wait for the same; readers behind a writer do not.
        return true
      end
      begin_turn(key, waiter)
      if waiter[6] > now then
        if mode ~= PERMIT then return true, waiter[6] - now end
        room.admit(waiter[3])
        at = at + 1
      else
        table.remove(queue, at)
      end
    else
      at = at + 1
    end
  end
  return false
end

local function wait_in_line(key, queue, owner, mode, of)
  local at = place_of(queue, owner)
  if at then
    -- If it had a turn it came, and was refused: it is told of the next one as well, where it asks now.
    queue[at][2], queue[at][5], queue[at][6] = INBOX, now + WAITER_LASTS, 0
  else
    queue[#queue + 1] = { owner, INBOX, mode, of, now + WAITER_LASTS, 0 }
  end
  keep_waiting(key, queue)
end

-- Ends a try that was refused. `again` is when there may be room, in milliseconds.
local function refuse(key, queue, owner, mode, of, waits, again)
  if waits then
    wait_in_line(key, queue, owner, mode, of)
  elseif #queue > 0 then
    local at = place_of(queue, owner)
    if at then table.remove(queue, at) end
    keep_waiting(key, queue)
  end
  return BUSY, again or -1
end

-- Ends a try that was granted. `packed` is the line as it was: those who had their turn and did not
-- come may have been taken out of it since.
local function step_out(key, packed, queue, owner)
  if not packed then return end
  local at = place_of(queue, owner)
  if at then table.remove(queue, at) end
  keep_waiting(key, queue)
end

-- A mutex. -------------------------------------------------------------------------------------------

local mutex = {}

-- Nobody holds it, and whoever comes looks closely.
local FREE = '?'
-- A plus: the mark in front of a holder that is looked at closely.
local LOOKED_AT = 43
-- For so long after its lease there is a record of one: longer than anybody is buried or waits without asking again.
local LINGERS = 20000

-- Without what stands in front of one that is looked at closely.
local function plain(record)
  return byte(record) == LOOKED_AT and string.sub(record, 16) or record
end

local function end_in(record)
  return tonumber(string.sub(record, 2, 14))
end

-- Owner, token, since when, and who, of what is a record.
local function read(record)
  local owner, at, count, since, client = string.match(plain(record), '^%-([%w_-]+) (%d+) (%d+) (%d+) (.*)$')
  if owner then return owner, count + at, tonumber(since), OURS .. client end
end

-- The same, looked at closely, with a lease that has so long left.
local function marked(record, left)
  return string.format('+%013.0f ', now + left) .. plain(record)
end

-- Whether somebody holds it who left this record. What is foreign is somebody's.
local function is_held(record)
  if not record or record == FREE then return false end
  return byte(record) ~= LOOKED_AT or not read(record) or end_in(record) > now
end

-- A lease of so long begins now. The first thing that is done needs no memory.
local function extend(key, record, lease)
  call('PEXPIRE', key, whole(lease))
  if byte(record) == LOOKED_AT then
    call('SET', key, marked(record, lease), 'PX', whole(lease + LINGERS))
  end
end

-- Whoever gives it back looks closely, and whoever takes it when its lease is over, which has so long left.
local function look_closely(key, record, left)
  if byte(record) ~= LOOKED_AT then
    call('PEXPIRE', key, whole(left))
    call('SET', key, marked(record, left), 'PX', whole(left + LINGERS))
  end
end

-- Nobody holds it any more, or still. Whoever comes looks closely while somebody waits or is buried.
local function keep_free(key, record, queue, buried_until)
  local lasts = math.max(#queue > 0 and WAITER_LASTS or 0, buried_until - now)
  if record then call('DEL', key) end
  -- What is no string looks as if it were not there, and is not ours to write over.
  if lasts > 0 then try('SET', key, FREE, 'NX', 'PX', whole(lasts)) end
end

local function record_of(owner, alone, token, lease)
  local record = table.concat({ '-' .. owner, '000', whole(token), whole(now), CLIENT }, ' ')
  return alone and record or marked(record, lease), alone and lease or lease + LINGERS
end

-- Who holds it, those who wait, until when somebody is buried, and whether `owner` is.
local function found(key, owner)
  local got = call('MGET', key, key .. ':q', key .. ':b', key .. ':d:' .. (owner or ''))
  return got[1], waiting(got[2]), tonumber(got[3] or 0), got[4]
end

local function mutex_room(free)
  local room = {}
  function room.has() return free end
  function room.admit() free = false end
  return room
end

function mutex.take(key, owner, mode, lease, of, waits)
  local record, queue, buried_until, is_buried = found(key, owner)
  if is_buried then return BURIED, 0 end
  if is_held(record) then
    local holder, token = read(record)
    if holder == owner then
      extend(key, record, lease)
      return DONE, token
    end
    if not holder then return FAILED, FOREIGN end
    local left = byte(record) == LOOKED_AT and end_in(record) - now or call('PTTL', key)
    -- Nothing of ours lasts for ever.
    if left == -1 then return FAILED, FOREIGN end
    if waits then look_closely(key, record, left) end
    return refuse(key, queue, owner, mode, of, waits, left)
  end
  local length = #queue
  local before, again = somebody_before(key, queue, mutex_room(true), owner, mode)
  if before then
    local verdict, value = refuse(key, queue, owner, mode, of, waits, again)
    keep_free(key, record, queue, buried_until)
    return verdict, value
  end
  local alone = #queue == (place_of(queue, owner) and 1 or 0)
  local token = count_on(key, 1, math.max(TOKEN_LASTS, 2 * lease))
  local mine, lasts = record_of(owner, alone and buried_until <= now, token, lease)
  if record then call('DEL', key) end
  if not call('SET', key, mine, 'NX', 'PX', whole(lasts)) then return FAILED, FOREIGN end
  step_out(key, length > 0, queue, owner)
  return DONE, token
end

function mutex.renew(key, owner, mode, lease)
  local record = call('GET', key)
  if not is_held(record) or read(record) ~= owner then return GONE, 0 end
  extend(key, record, lease)
  return DONE, 0
end

function mutex.give(key, owner)
  local record, queue, buried_until = found(key)
  local held = is_held(record)
  local mine = held and read(record) == owner
  local at = place_of(queue, owner)
  if at then table.remove(queue, at) end
  if mine then call('DEL', key) end
  if at or #queue > 0 then
    wake(key, queue, mutex_room(mine or not held))
    keep_waiting(key, queue)
  end
  if mine or not held then keep_free(key, not mine and record, queue, buried_until) end
  return DONE, mine and 1 or 0
end

-- Nothing of this owner that comes late is granted for so long: whoever holds it or takes it looks for that.
function mutex.bury(key, lasts)
  call('SET', key .. ':b', whole(now + lasts), 'PX', whole(lasts))
  local record, queue, buried_until = found(key)
  if not is_held(record) then
    keep_free(key, record, queue, buried_until)
  elseif read(record) then
    look_closely(key, record, call('PTTL', key))
  end
end

function mutex.clear(key)
  -- Here what is no string is an error.
  local record = call('GET', key)
  local _, queue, buried_until = found(key)
  local held = is_held(record)
  if held and not read(record) then error(FOREIGN) end
  if held then call('DEL', key) end
  wake(key, queue, mutex_room(true))
  keep_waiting(key, queue)
  keep_free(key, not held and record, queue, buried_until)
  return held and 1 or 0
end

function mutex.holders(key)
  local record = call('GET', key)
  if not is_held(record) then return {} end
  local owner, token, since, client = read(record)
  if not owner then error(FOREIGN) end
  return { { owner, EXCLUSIVE, 0, token, since, client } }
end

-- A read/write lock. Holders: { OWNER, MODE, EXPIRES, SINCE, CLIENT, TOKEN, INBOX, WISHES UNTIL, RISEN }

local rwlock = {}

local function holding(key)
  local packed, live = call('GET', key), {}
  if not packed then return live end
  local fine, holders = pcall(cmsgpack.unpack, packed)
  if not fine or type(holders) ~= 'table' or #holders == 0 then error(FOREIGN) end
  for _, holder in ipairs(holders) do
    if type(holder) ~= 'table' or type(holder[3]) ~= 'number' then error(FOREIGN) end
    if holder[3] > now then live[#live + 1] = holder end
  end
  return live
end

local function find(holders, owner)
  for at, holder in ipairs(holders) do
    if holder[1] == owner then return at, holder end
  end
end

-- With `no_more`, nothing was added and it is kept even where the memory is full.
local function keep_holding(key, holders, no_more)
  if #holders == 0 then
    call('DEL', key)
    return
  end
  local last = 0
  for _, holder in ipairs(holders) do last = math.max(last, holder[3]) end
  if no_more then call('PEXPIRE', key, whole(last - now)) end
  call('SET', key, cmsgpack.pack(holders), 'PX', whole(last - now))
end

local function rwlock_room(holders)
  local readers, upgradeable, writers, wishes = 0, 0, 0, 0
  local room = {}
  function room.admit(mode)
    if mode == READ then readers = readers + 1
    elseif mode == UPGRADEABLE then upgradeable = upgradeable + 1
    else writers = writers + 1 end
  end
  for _, holder in ipairs(holders) do
    room.admit(holder[2])
    if holder[8] > now then wishes = wishes + 1 end
  end
  function room.has(mode)
    if writers > 0 then return false end
    if mode == WRITE then return readers + upgradeable == 0 end
    return wishes == 0 and (mode == READ or upgradeable == 0)
  end
  return room
end

-- When the first of them will be gone if it is not renewed.
local function first_end(holders)
  local first
  for _, holder in ipairs(holders) do first = math.min(first or holder[3], holder[3]) end
  return first and first - now
end

-- Tells those who may come in: one who wishes to write and is alone now, or those who wait.
local function wake_rwlock(key, holders, queue)
  local alone = #holders == 1 and holders[1]
  if alone and alone[8] > now then try('PUBLISH', alone[7], key) end
  if #queue > 0 then wake(key, queue, rwlock_room(holders)) end
end

function rwlock.take(key, owner, mode, lease, of, waits)
  if call('EXISTS', key .. ':d:' .. owner) == 1 then return BURIED, 0 end
  local holders, packed = holding(key), call('GET', key .. ':q')
  local queue = waiting(packed)
  local _, mine = find(holders, owner)
  if mine then
    mine[3] = now + lease
    keep_holding(key, holders, true)
    return DONE, mine[6]
  end
  local room = rwlock_room(holders)
  if not room.has(mode, of) then
    return refuse(key, queue, owner, mode, of, waits, first_end(holders))
  end
  local before, again = somebody_before(key, queue, room, owner, mode)
  if before then
    return refuse(key, queue, owner, mode, of, waits, again or first_end(holders))
  end
  local token = 0
  if mode == WRITE then token = next_token(key, lease) end
  holders[#holders + 1] = { owner, mode, now + lease, now, CLIENT, token, INBOX, 0, false }
  keep_holding(key, holders)
  step_out(key, packed, queue, owner)
  return DONE, token
end

function rwlock.renew(key, owner, mode, lease)
  local holders = holding(key)
  local _, mine = find(holders, owner)
  if not mine then return GONE, 0 end
  mine[3] = now + lease
  keep_holding(key, holders, true)
  return DONE, 0
end

function rwlock.give(key, owner)
  local holders, queue = holding(key), waiting(call('GET', key .. ':q'))
  local at = find(holders, owner)
  if at then
    table.remove(holders, at)
    keep_holding(key, holders, true)
  end
  local place = place_of(queue, owner)
  if place then table.remove(queue, place) end
  wake_rwlock(key, holders, queue)
  if place or #queue > 0 then keep_waiting(key, queue) end
  return DONE, at and 1 or 0
end

function rwlock.rise(key, owner, mode, lease)
  local holders = holding(key)
  local _, mine = find(holders, owner)
  if not mine then return GONE, 0 end
  if mine[9] then return DONE, mine[6] end
  if mine[2] ~= UPGRADEABLE then return WRONG, 0 end
  if #holders > 1 then
    mine[7], mine[8] = INBOX, now + WAITER_LASTS
    keep_holding(key, holders)
    return BUSY, -1
  end
  mine[6] = next_token(key, lease)
  mine[2], mine[8], mine[9] = WRITE, 0, true
  keep_holding(key, holders)
  return DONE, mine[6]
end

function rwlock.fall(key, owner)
  local holders, queue = holding(key), waiting(call('GET', key .. ':q'))
  local _, mine = find(holders, owner)
  if not mine or not (mine[9] or mine[8] > 0) then return DONE, 0 end
  mine[2], mine[6], mine[8], mine[9] = UPGRADEABLE, 0, 0, false
  keep_holding(key, holders, true)
  wake_rwlock(key, holders, queue)
  if #queue > 0 then keep_waiting(key, queue) end
  return DONE, 1
end

function rwlock.clear(key)
  local count, queue = #holding(key), waiting(call('GET', key .. ':q'))
  call('DEL', key)
  wake_rwlock(key, {}, queue)
  keep_waiting(key, queue)
  return count
end

function rwlock.holders(key)
  local said = {}
  for _, holder in ipairs(holding(key)) do
    said[#said + 1] = { holder[1], holder[2], 0, holder[6], holder[4], OURS .. holder[5] }
  end
  return said
end

-- A semaphore. ---------------------------------------------------------------------------------------

local semaphore = {}

local function forget_expired(key)
  local expired = call('ZRANGEBYSCORE', key, '-inf', whole(now))
  for _, owner in ipairs(expired) do call('HDEL', key .. ':i', owner) end
  if #expired > 0 then call('ZREMRANGEBYSCORE', key, '-inf', whole(now)) end
end

local function semaphore_room(key)
  local count = call('ZCARD', key)
  local room = {}
  function room.has(_, of) return count < of end
  function room.admit() count = count + 1 end
  return room
end

local function lasts(key, lease)
  if call('PTTL', key) < lease then
    call('PEXPIRE', key, lease)
    call('PEXPIRE', key .. ':i', lease)
  end
end

-- What has the owner already. The first write needs no memory.
local function lasts_on(key, owner, lease)
  local rest = whole(math.max(call('PTTL', key), lease))
  call('PEXPIRE', key, rest)
  call('PEXPIRE', key .. ':i', rest)
  call('ZADD', key, whole(now + lease), owner)
end

local function next_end(key)
  local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) - now
end

function semaphore.take(key, owner, mode, lease, of, waits)
  if call('EXISTS', key .. ':d:' .. owner) == 1 then return BURIED, 0 end
  forget_expired(key)
  if call('ZSCORE', key, owner) then
    lasts_on(key, owner, lease)
    return DONE, 0
  end
  local packed = call('GET', key .. ':q')
  local queue, room = waiting(packed), semaphore_room(key)
  if not room.has(mode, of) or somebody_before(key, queue, room, owner, mode)
    or not room.has(mode, of) then
    return refuse(key, queue, owner, mode, of, waits, next_end(key))
  end
  call('ZADD', key, whole(now + lease), owner)
  call('HSET', key .. ':i', owner, whole(of) .. ' ' .. whole(now) .. ' ' .. CLIENT)
  lasts(key, lease)
  step_out(key, packed, queue, owner)
  return DONE, 0
end

function semaphore.renew(key, owner, mode, lease)
  local expires = call('ZSCORE', key, owner)
  if not expires or tonumber(expires) <= now then return GONE, 0 end
  lasts_on(key, owner, lease)
  return DONE, 0
end

function semaphore.give(key, owner)
  forget_expired(key)
  local held = call('ZREM', key, owner)
  call('HDEL', key .. ':i', owner)
  local packed = call('GET', key .. ':q')
  if packed then
    local queue = waiting(packed)
    local at = place_of(queue, owner)
    if at then table.remove(queue, at) end
    wake(key, queue, semaphore_room(key))
    keep_waiting(key, queue)
  end
  return DONE, held
end

function semaphore.clear(key)
  forget_expired(key)
  local count = call('ZCARD', key)
  call('DEL', key, key .. ':i')
  local queue = waiting(call('GET', key .. ':q'))
  wake(key, queue, semaphore_room(key))
  keep_waiting(key, queue)
  return count
end

function semaphore.holders(key)
  forget_expired(key)
  local said = {}
  for _, owner in ipairs(call('ZRANGE', key, 0, -1)) do
    local info = call('HGET', key .. ':i', owner) or ''
    local of, since, client = string.match(info, '^(%d+) (%d+) (.*)$')
    said[#said + 1] = { owner, PERMIT, tonumber(of or 1), 0, tonumber(since or 0), OURS .. (client or '') }
  end
  return said
end

-- What can be asked for. -----------------------------------------------------------------------------

local function kind(mode)
  if mode == EXCLUSIVE then return mutex end
  if mode == PERMIT then return semaphore end
  return rwlock
end

local things = {}

function things.take(key, owner, mode, lease, of)
  return kind(mode).take(key, owner, mode, lease, of, false)
end

function things.wait(key, owner, mode, lease, of)
  return kind(mode).take(key, owner, mode, lease, of, true)
end

function things.renew(key, owner, mode, lease)
  return kind(mode).renew(key, owner, mode, lease)
end

-- Nothing that is still on its way for this owner is granted for so long.
function things.give(key, owner, mode, _, buried)
  if buried > 0 then
    if mode == EXCLUSIVE then pcall(mutex.bury, key, buried) end
    try('SET', key .. ':d:' .. owner, '1', 'PX', whole(buried))
  end
  return kind(mode).give(key, owner)
end

-- Waits no more; what is held stays so.
function things.leave(key, owner, mode)
  local queue = waiting(call('GET', key .. ':q'))
  local at = place_of(queue, owner)
  if not at then return DONE, 0 end
  table.remove(queue, at)
  local room
  if mode == EXCLUSIVE then
    local got = call('MGET', key, key .. ':b')
    local free = not is_held(got[1])
    if free then keep_free(key, got[1], queue, tonumber(got[2] or 0)) end
    room = mutex_room(free)
  elseif mode == PERMIT then room = semaphore_room(key)
  else room = rwlock_room(holding(key)) end
  wake(key, queue, room)
  keep_waiting(key, queue)
  return DONE, 1
end

function things.rise(key, owner, mode, lease)
  return rwlock.rise(key, owner, mode, lease)
end

function things.fall(key, owner)
  return rwlock.fall(key, owner)
end

things['break'] = function(key, _, mode, lease)
  local count = kind(mode).clear(key)
  -- Those of mutexes rise by themselves.
  if count > 0 and mode ~= EXCLUSIVE then next_token(key, lease) end
  return DONE, count
end

function things.look(key, _, mode)
  local queue = {}
  for _, waiter in ipairs(waiting(call('GET', key .. ':q'))) do
    queue[#queue + 1] = { waiter[1], waiter[3], waiter[4] }
  end
  return DONE, { kind(mode).holders(key), queue }
end

-- What to do, the mode, the lease and one number more.
local ERRAND = '^(%a+) (%d+) (%d+) (%d+)$'

local function thing(at)
  local key, owner = KEYS[at], string.sub(ARGV[WORDS + at], 2, 23)
  if at <= GIVEN then return 'give', key, owner, EXCLUSIVE, 0, 0 end
  if at <= WAITED then return 'wait', key, owner, EXCLUSIVE, tonumber(LEASE), 0 end
  if at <= TAKEN then return 'take', key, owner, EXCLUSIVE, tonumber(LEASE), 0 end
  local what, mode, lease, more = string.match(ARGV[WORDS + #KEYS + at - TAKEN], ERRAND)
  return what, key, owner, tonumber(mode), tonumber(lease), tonumber(more)
end

local function do_one(at)
  local name, key, owner, mode, lease, more = thing(at)
  return things[name](key, owner, mode, lease, more)
end

local function failure(error)
  return type(error) == 'table' and error.err or tostring(error)
end

-- What becomes of one thing, as it is answered; and whether it was done.
local function said_of(at)
  local fine, verdict, value = pcall(do_one, at)
  if not fine then verdict, value = FAILED, failure(verdict) end
  if verdict == DONE and type(value) == 'number' then return value, true end
  return { verdict, value }, verdict == DONE
end

-- All of these or none: whoever is refused one gives back the others before anybody can see it.
local function all()
  local answer = { ARGV[1], 1, 0 }
  for at = 1, #KEYS do
    local said, done = said_of(at)
    answer[at + 3] = said
    if not done then
      for earlier = 1, at - 1 do
        local _, key, owner, mode = thing(earlier)
        kind(mode).give(key, owner)
      end
      break
    end
  end
  return answer
end

return { one = said_of, all = all }
