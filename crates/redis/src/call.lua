-- One call does many things, one after another, each on its own: what one of them fails with does not stop
-- the next. KEYS has a lock for each. Those that are most often done come first, and each of them is the first
-- thing about its lock in this call: mutexes that are given back, those that are taken by who would wait, and
-- those by who would not. All others follow in the order in which they were asked for.
--
-- ARGV has eight words about the call (one that the answer begins with, the name of who asks, the channel on
-- which it hears, what time it is there, the lease of all that is taken, where in KEYS each of the three sorts
-- ends), then the owner for each thing, and then an errand for each of the others: four words in one, what to
-- do, the mode, the lease, and how many permits there are, or for how long an owner is refused what it gives
-- back. The answer has one value for all that is given back first, and then one for each thing: the number of
-- one that was done, or else what is said of it and a value.
--
-- Here is only what is done with a mutex for which nobody waits, and without a function: making those takes
-- longer than what the server does, and so does each call of the server from here. All the rest is in lock.lua,
-- which stands in the middle of this and whose functions are made when they are first needed. It decides
-- whatever is not clear here.

-- Redis 6 replicates what scripts do only when told so; later ones always do.
if redis.replicate_commands then redis.replicate_commands() end

local call, try, byte, find = redis.call, redis.pcall, string.byte, string.find
local CLIENT, INBOX, THEIR_TIME, LEASE = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
-- Where the sorts end, and the words before the owners.
local GIVEN, WAITED, TAKEN, WORDS = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), 8

-- What is said of a thing.
local DONE, BUSY, BURIED, GONE, WRONG, FAILED = 1, 2, 3, 4, 5, -1
-- How a lock is held.
local EXCLUSIVE, READ, UPGRADEABLE, WRITE, PERMIT = 1, 2, 3, 4, 5

-- What is less than the milliseconds of 2001 has only begun to count.
local NEW = 1000000000000
-- So often the last token is written down anew, lest it be forgotten while it is ahead of the clock.
local OFTEN = 64
-- Longer than any token that was given out is needed, if its lease is not longer than a day.
local TOKEN_LASTS = 2 * 86400000
-- A minus: the mark in front of a holder for whom nobody waits.
local NOBODY = 45

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

local about = ' ' .. THEIR_TIME .. ' ' .. CLIENT
for at = GIVEN + 1, TAKEN do
  local key = keys[at]
  -- What is no string is not ours to write over either.
  local said = try('SET', key, '-' .. words[WORDS + at] .. about, 'NX', 'PX', LEASE)
  -- Nobody can count there while somebody waits, or is refused what it gave back.
  local token = said and said.ok and try('INCR', key .. ':t')
  if type(token) == 'number' and token >= NEW then
    if token % OFTEN == 0 then try('PEXPIRE', key .. ':t', TOKEN_LASTS) end
    answer[at - GIVEN + 2] = token
  else
    if token then try('DEL', key) end
    answer[at - GIVEN + 2] = rest().one(at)
  end
end

for at = TAKEN + 1, #keys do answer[at - GIVEN + 2] = rest().one(at) end
return answer
