-- One call does many things, one after another, each on its own: what one of them fails with does not stop
-- the next. KEYS has a lock for each. Those that are most often done come first, and each of them is the first
-- thing about its lock in this call: mutexes that are given back, those that are taken by who would wait, and
-- those by who would not. All others follow in the order in which they were asked for.
--
-- ARGV has eight words about the call (one that the answer begins with, who asks, the channel on which it hears,
-- the lease of all that is taken, where in KEYS each of the three sorts ends, the key of the count that tokens of
-- mutexes are taken from), then the owner for each thing, behind a minus, and then an errand for each of the
-- others: four words in one, what to do, the mode, the lease, and how many permits there are, or for how long an
-- owner is refused what it gives back. Behind the owner of what is taken by one of the sorts is its place in KEYS,
-- in three digits. So a record begins with these words, which is quickly compared. They are short, as Lua goes
-- through each letter of what it is given, twice through those of a record.
--
-- The answer has one value for all that is given back first, one for all that is taken (the number before the
-- token of the first, as each has one more than the one before it), and then one for each other thing: the number
-- of one that was done, or else what is said of it and a value. Where not all of a sort went well, a list of such
-- values for each stands in the place of its one.
--
-- Here is only what is done with a mutex for which nobody waits, and nearly without functions: making those takes
-- longer than what the server does, and so does each call of the server from here. All the rest is in lock.lua,
-- which stands in the middle of this and whose functions are made when they are first needed. It decides
-- whatever is not clear here.

-- Redis 6 replicates what scripts do only when told so; later ones always do.
if redis.replicate_commands then redis.replicate_commands() end

local call, try = redis.call, redis.pcall
local byte, find, format = string.byte, string.find, string.format
local CLIENT, INBOX, LEASE, COUNT = ARGV[2], ARGV[3], ARGV[4], ARGV[8]
-- Where the sorts end, and the words before the owners.
local GIVEN, WAITED, TAKEN, WORDS = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), 8

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
-- Since 7.0, which is also since when servers tell their version here, SET may have NX and GET, and says what was
-- there: mostly nothing, which is quicker to say than that it is done.
local TELLS = redis.REDIS_VERSION_NUM ~= nil

-- The last of so many new tokens of mutexes: of all together, or, in a cluster, of this one, for so long at least;
-- and what time it is, in milliseconds. They rise as the clock does, and go on when that is set back.
local function count_on(key, many, lasts)
  local count = COUNT ~= '' and COUNT or key .. ':t'
  local last, clock = call('INCRBY', count, many), call('TIME')
  local millis = clock[1] * 1000 + clock[2] / 1000
  local least = math.floor(millis * PARTS) + many
  if last < least then
    last = least
    call('SET', count, format('%.0f', last))
  end
  if COUNT == '' then call('PEXPIRE', count, format('%.0f', lasts)) end
  return last, math.floor(millis)
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

local keys, words, answer = KEYS, ARGV, { ARGV[1], 1, 0 }

-- What is said of each, from the one after `first` on: what these say, or else what `fine` does.
local function each(first, last, these, fine)
  local said = {}
  for at = first + 1, last do said[at - first] = these[at] or fine(at) end
  return said
end

if GIVEN > 0 then
  local records, left = try('MGET', unpack(keys, 1, GIVEN)), nil
  for at = 1, GIVEN do
    local record = records[at]
    -- Compared in place, as a part of it would be made first.
    if not record or find(record, words[WORDS + at], 1, true) ~= 1 then
      left = left or {}
      left[at] = rest().one(at)
    end
  end
  local done
  if not left then
    done = try('DEL', unpack(keys, 1, GIVEN))
  else
    local gone = {}
    for at = 1, GIVEN do
      if not left[at] then gone[#gone + 1] = keys[at] end
    end
    done = #gone == 0 and 0 or try('DEL', unpack(gone))
  end
  done = type(done) == 'number'
  if left or not done then
    answer[2] = each(0, GIVEN, left or {}, function(at) return done and 1 or rest().one(at) end)
  end
end

if TAKEN > GIVEN then
  local fine, last, millis = pcall(count_on, keys[TAKEN], TAKEN - GIVEN, TOKEN_LASTS)
  local before, left = fine and last - TAKEN, not fine and {} or nil
  local about = fine and format(' %.0f %.0f %s', before, millis, CLIENT)
  for at = GIVEN + 1, TAKEN do
    -- What is no string is not ours to write over either.
    local refused = true
    if fine and TELLS then
      refused = try('SET', keys[at], words[WORDS + at] .. about, 'NX', 'GET', 'PX', LEASE)
    elseif fine then
      local said = try('SET', keys[at], words[WORDS + at] .. about, 'NX', 'PX', LEASE)
      refused = not (said and said.ok)
    end
    if refused then
      left = left or {}
      left[at] = rest().one(at)
    end
  end
  answer[3] = left and each(GIVEN, TAKEN, left, function(at) return before + at end) or before + GIVEN
end

for at = TAKEN + 1, #keys do answer[at - TAKEN + 3] = rest().one(at) end
return answer
