-- One call does many things, one after another: KEYS has a lock for each, ARGV four words about who asks
-- (a word that the answer begins with, its name, the channel on which it hears, what time it is there) and
-- then five for each thing: what to do, the owner, the mode, the lease, and how many permits there are, or
-- for how long an owner is refused what it gives back. Each is done on its own: what one of them fails with
-- does not stop the next. The answer has two values for each thing.
--
-- Here is only what is done with a mutex for which nobody waits, and without a function: making those, and
-- each call of the server from here, takes longer than what the server does. All the rest is in lock.lua,
-- which stands in the middle of this and whose functions are made when they are first needed. It decides
-- whatever is not clear here.

-- Redis 6 replicates what scripts do only when told so; later ones always do.
if redis.replicate_commands then redis.replicate_commands() end

local call, try = redis.call, redis.pcall
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

local answer, sub = { ARGV[1] }, string.sub
for at = 1, #KEYS do
  local base, key, verdict, value = 5 * at - 1, KEYS[at], nil, nil
  if ARGV[base + 3] == '1' then
    local what, owner, lease = ARGV[base + 1], ARGV[base + 2], ARGV[base + 4]
    if what == 'take' or what == 'wait' then
      local got = try('MGET', key, key .. ':q', key .. ':d:' .. owner)
      if not (got.err or got[1] or got[2] or got[3] or tonumber(lease) > A_DAY) then
        local token = try('INCR', key .. ':t')
        if type(token) == 'number' and token >= NEW and token % OFTEN ~= 0 then
          local mine = '-' .. owner .. ' ' .. THEIR_TIME .. ' ' .. CLIENT
          -- What is no string looks as if it were not there, and is not ours to write over.
          local said = try('SET', key, mine, 'NX', 'PX', lease)
          if said and said.ok then verdict, value = DONE, token end
        end
      end
    elseif what == 'give' and ARGV[base + 5] == '0' then
      local record = try('GET', key)
      if type(record) == 'string' and sub(record, 1, 33) == '-' .. owner then
        try('DEL', key)
        verdict, value = DONE, 1
      end
    elseif what == 'renew' then
      local record = try('GET', key)
      if type(record) == 'string' and sub(record, 2, 33) == owner then
        try('PEXPIRE', key, lease)
        verdict, value = DONE, 0
      end
    end
  end
  if not verdict then verdict, value = rest().one(at) end
  answer[2 * at], answer[2 * at + 1] = verdict, value
end
return answer
