-- One call does many things, one after another, each on its own: what one of them fails with does not stop
-- the next. KEYS has a lock for each. Those that are most often done come first, and each of them is the first
-- thing about its lock in this call: mutexes that are given back, those that are taken by who would wait, and
-- those by who would not. All others follow in the order in which they were asked for.
--
-- ARGV has nine words about the call (one that the answer begins with, the name of who asks, the channel on
-- which it hears, what time it is there, the lease of all that is taken, where in KEYS each of the three sorts
-- ends, the key of the count that tokens of mutexes are taken from), then the owner for each thing, and then an
-- errand for each of the others: four words in one, what to do, the mode, the lease, and how many permits there
-- are, or for how long an owner is refused what it gives back. Behind the owner of what is taken by one of the
-- sorts is its place in KEYS, in three digits. The answer has one value for all that is given back first, and
-- then one for each thing: the number of one that was done, or else what is said of it and a value.
--
-- Here is only what is done with a mutex for which nobody waits, and nearly without functions: making those takes
-- longer than what the server does, and so does each call of the server from here. All the rest is in lock.lua,
-- which stands in the middle of this and whose functions are made when they are first needed. It decides
-- whatever is not clear here.

-- Redis 6 replicates what scripts do only when told so; later ones always do.
if redis.replicate_commands then redis.replicate_commands() end

local call, try = redis.call, redis.pcall
local byte, find, format = string.byte, string.find, string.format
local CLIENT, INBOX, THEIR_TIME, LEASE, COUNT = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[9]
-- Where the sorts end, and the words before the owners.
local GIVEN, WAITED, TAKEN, WORDS = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), 9

-- What is said of a thing.
local DONE, BUSY, BURIED, GONE, WRONG, FAILED = 1, 2, 3, 4, 5, -1
-- How a lock is held.
local EXCLUSIVE, READ, UPGRADEABLE, WRITE, PERMIT = 1, 2, 3, 4, 5

-- What is less than the milliseconds of 2001 has only begun to count.
local NEW = 1000000000000
-- Longer than any token that was given out is needed, if its lease is not longer than a day.
local TOKEN_LASTS = 2 * 86400000
-- Tokens of mutexes count in parts of a millisecond, of which there are so many: that is how often mutexes may be
-- taken in one, for years, without their count getting ahead of the clock.
local PARTS = 32
-- A minus: the mark in front of a holder for whom nobody waits.
local NOBODY = 45

-- The last of so many new tokens of mutexes: of all together, or, in a cluster, of this one, for so long at least.
-- They rise as the clock does, and go on when that is set back.
local function count_on(key, many, lasts)
  local count = COUNT ~= '' and COUNT or key .. ':t'
  local last, clock = call('INCRBY', count, many), call('TIME')
  local least = math.floor((clock[1] * 1000 + clock[2] / 1000) * PARTS) + many
  if last < least then
    last = least
    call('SET', count, format('%.0f', last))
  end
  if COUNT == '' then call('PEXPIRE', count, format('%.0f', lasts)) end
  return last
end

local everything

local function rest()
  if not everything then
    everything = (function()
--@ lock.lua
    end)()
  end
  return everything
end

if LEASE == 'all' then return rest().all() end

local keys, words, answer = KEYS, ARGV, { ARGV[1], 1 }

if GIVEN > 0 then
  local records, gone, count, left = try('MGET', unpack(keys, 1, GIVEN)), {}, 0, nil
  for at = 1, GIVEN do
    local record = records[at]
    -- Compared in place, as a part of it would be made first.
    if record and byte(record) == NOBODY and find(record, words[WORDS + at], 2, true) == 2 then
      count = count + 1
      gone[count] = keys[at]
    else
      left = left or {}
      left[at] = true
    end
  end
  local done = count > 0 and type(try('DEL', unpack(gone))) == 'number'
  if left or not done then
    local said = {}
    for at = 1, GIVEN do said[at] = done and not (left and left[at]) and 1 or rest().one(at) end
    answer[2] = said
  end
end

if TAKEN > GIVEN then
  local fine, last = pcall(count_on, keys[TAKEN], TAKEN - GIVEN, TOKEN_LASTS)
  local before = fine and last - TAKEN
  local about = fine and format(' 0000000000000 %.0f %s %s', before, THEIR_TIME, CLIENT)
  for at = GIVEN + 1, TAKEN do
    -- What is no string is not ours to write over either.
    local said = fine and try('SET', keys[at], '-' .. words[WORDS + at] .. about, 'NX', 'PX', LEASE)
    answer[at - GIVEN + 2] = said and said.ok and before + at or rest().one(at)
  end
end

for at = TAKEN + 1, #keys do answer[at - GIVEN + 2] = rest().one(at) end
return answer
