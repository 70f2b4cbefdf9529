-- One call does many things, one after another: KEYS has a lock for each, ARGV four words about who asks
-- (a word that the answer begins with, its name, the channel on which it hears, what time it is there) and
-- then two for each thing: an errand, and the owner. An errand is four words in one: what to do, the mode, the
-- lease, and how many permits there are, or for how long an owner is refused what it gives back. Each is done
-- on its own: what one of them fails with does not stop the next. The answer has one value for each thing:
-- the number of one that was done, or else what is said of it and a value.
--
-- Here is only what is done with a mutex for which nobody waits, and without a function: making those takes
-- longer than what the server does, and so does each call of the server from here. So it is asked of all
-- locks at once where that can be. All the rest is in lock.lua, which stands in the middle of this and whose
-- functions are made when they are first needed. It decides whatever is not clear here.

-- Redis 6 replicates what scripts do only when told so; later ones always do.
if redis.replicate_commands then redis.replicate_commands() end

local call, try, byte, find = redis.call, redis.pcall, string.byte, string.find
local CLIENT, INBOX, THEIR_TIME = ARGV[2], ARGV[3], ARGV[4]

-- What is said of a thing.
local DONE, BUSY, BURIED, GONE, WRONG, FAILED = 1, 2, 3, 4, 5, -1
-- How a lock is held.
local EXCLUSIVE, READ, UPGRADEABLE, WRITE, PERMIT = 1, 2, 3, 4, 5

-- What is less than the milliseconds of 2001 has only begun to count.
local NEW = 1000000000000
-- So often the last token is written down anew, lest it be forgotten while it is ahead of the clock.
local OFTEN = 64
local A_DAY = 86400000
-- Longer than any token that was given out is needed, if its lease is not longer than a day.
local TOKEN_LASTS = 2 * A_DAY
-- A minus: the mark in front of a holder for whom nobody waits.
local NOBODY = 45
-- What to do, the mode, the lease and one number more.
local ERRAND = '^(%a+) (%d+) (%d+) (%d+)$'

local everything

local function rest()
  if not everything then
    everything = (function()
--@ lock.lua
    end)()
  end
  return everything
end

if ARGV[5] == 'all' then return rest().all() end

-- What is done here is the first thing about its lock in this call: so what all locks are asked at once is
-- still true of it when it is done. Counted by hand: `#` counts anew each time.
local keys, words, met, answer = KEYS, ARGV, {}, { ARGV[1] }
local take_words, give_words, lease_of = {}, {}, {}
-- What is taken, and whatever may speak against that: two keys for each.
local takes, hindrances, taken = {}, {}, 0
-- What is given back.
local gives, held, given = {}, {}, 0
for at = 1, #keys do
  local key, errand = keys[at], words[2 * at + 3]
  if not lease_of[errand] then
    local what, mode, lease, more = string.match(errand, ERRAND)
    lease_of[errand] = lease
    if mode == '1' then
      take_words[errand] = (what == 'take' or what == 'wait') and tonumber(lease) <= A_DAY
      give_words[errand] = what == 'give' and more == '0'
    end
  end
  answer[at + 1] = false
  if not met[key] then
    met[key] = true
    if take_words[errand] then
      taken = taken + 1
      takes[taken] = at
      hindrances[2 * taken - 1] = key .. ':q'
      hindrances[2 * taken] = key .. ':d:' .. words[2 * at + 4]
    elseif give_words[errand] then
      given = given + 1
      gives[given], held[given] = at, key
    end
  end
end

if given > 0 then
  local records, gone, done, count = try('MGET', unpack(held)), {}, {}, 0
  for place = 1, given do
    local at, record = gives[place], records[place]
    -- Compared in place, as a part of it would be made first.
    if record and byte(record) == NOBODY and find(record, words[2 * at + 4], 2, true) == 2 then
      count = count + 1
      gone[count], done[count] = held[place], at
    end
  end
  if count > 0 and type(try('DEL', unpack(gone))) == 'number' then
    for place = 1, count do answer[done[place] + 1] = 1 end
  end
end

if taken > 0 then
  local free, about = try('EXISTS', unpack(hindrances)) == 0, ' ' .. THEIR_TIME .. ' ' .. CLIENT
  for place = 1, taken do
    local at = takes[place]
    local key = keys[at]
    if free or try('EXISTS', hindrances[2 * place - 1], hindrances[2 * place]) == 0 then
      -- What is no string is not ours to write over either.
      local said = try('SET', key, '-' .. words[2 * at + 4] .. about, 'NX', 'PX',
        lease_of[words[2 * at + 3]])
      if said and said.ok then
        local token = try('INCR', key .. ':t')
        if type(token) == 'number' and token >= NEW then
          if token % OFTEN == 0 then try('PEXPIRE', key .. ':t', TOKEN_LASTS) end
          answer[at + 1] = token
        else
          -- Where to begin is for the others to say, or that nobody can count there.
          try('DEL', key)
        end
      end
    end
  end
end

for at = 1, #keys do
  if not answer[at + 1] then answer[at + 1] = rest().one(at) end
end
return answer
