/**
 * Scripts that Redis runs for a lease and for the copy of a journal: the algorithm of memory-lease-store.ts, each one
 * atomic step.
 *
 * Keys of one engine have one hash tag, so that they are in one slot of a cluster:
 * `{GROUP}:lease:INSTANCE` — `epoch seq name session owner released`, and for people `heard`;
 * `{GROUP}:standbys:INSTANCE` — name of each standby → time of its last read;
 * `{GROUP}:files:INSTANCE` — name of each copied file → 1, and `!version`; `{GROUP}:file:INSTANCE:NAME` — its bytes;
 * `{GROUP}:staged:INSTANCE:NAME` — the first bytes of a file that will replace it.
 *
 * Invariants: nothing expires except a staged file without further pieces. The store's clock makes epochs rise over a
 * loss of memory, and shows people the age of the last message; nothing else depends on it.
 */

/** Age at which the entry of a standby is dropped. */
export const standbyMs = 60_000;
/** Age at which a staged file without new pieces is dropped. */
const stagedMs = 600_000;

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** KEYS: lease, standbys. ARGV: name. Returns the record's fields and values; notes that `name` is a standby. */
export const lookScript = `${now}
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', now))
return redis.call('HGETALL', KEYS[1])
`;

/**
 * KEYS: lease, standbys. ARGV: name, session, owner, epoch and seq as they were seen (both empty: no record). Returns
 * the new epoch, or empty.
 */
export const takeScript = `${now}
local epoch, seq = redis.call('HGET', KEYS[1], 'epoch'), redis.call('HGET', KEYS[1], 'seq')
if (epoch or '') ~= ARGV[4] or (seq or '') ~= ARGV[5] then return '' end
local mine = string.format('%.0f', math.max(now, tonumber(epoch or '0') + 1))
redis.call('HSET', KEYS[1], 'epoch', mine, 'seq', '0', 'name', ARGV[1], 'session', ARGV[2], 'owner', ARGV[3], 'released', '0')
redis.call('HDEL', KEYS[2], ARGV[1])
return mine
`;

/**
 * KEYS: lease, standbys. ARGV: name, session, owner, epoch, seq, `1` where the lease has not run out. Returns `deposed`
 * and the new holder, `unsure`, or `renewed` and each standby with the milliseconds since its last read.
 */
export const renewScript = `${now}
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
local mine = tonumber(ARGV[4])
local seq = redis.call('HGET', KEYS[1], 'seq')
if epoch < mine and ARGV[6] == '1' then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[4], 'seq', ARGV[5], 'name', ARGV[1], 'session', ARGV[2], 'owner', ARGV[3], 'released', '0')
elseif not seq or epoch < mine then return { 'unsure' }
elseif epoch > mine or redis.call('HGET', KEYS[1], 'released') == '1' then
  return { 'deposed', redis.call('HGET', KEYS[1], 'name') or '' }
elseif tonumber(ARGV[5]) > tonumber(seq) then
  redis.call('HSET', KEYS[1], 'seq', ARGV[5])
end
redis.call('HSET', KEYS[1], 'heard', string.format('%.0f', now))
local reply = { 'renewed' }
local all = redis.call('HGETALL', KEYS[2])
for place = 1, #all, 2 do
  local ms = now - tonumber(all[place + 1])
  if ms > ${standbyMs} then redis.call('HDEL', KEYS[2], all[place])
  else
    reply[#reply + 1] = all[place]
    reply[#reply + 1] = string.format('%.0f', math.max(0, ms))
  end
end
return reply
`;

/** KEYS: lease. ARGV: session, epoch. */
export const releaseScript = `
if redis.call('HGET', KEYS[1], 'epoch') == ARGV[2] and redis.call('HGET', KEYS[1], 'session') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'released', '1')
end
`;

/**
 * A process that has lost the lease must not write. A store that lost the record cannot check that before the record is
 * written again.
 */
const fenced = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch > tonumber(ARGV[1]) then return 'deposed' end
if epoch < tonumber(ARGV[1]) then return 'gap' end
`;

/** KEYS: lease, files, file. ARGV: epoch, name, where the bytes belong, bytes. */
export const appendScript = `${fenced}
local at, length = tonumber(ARGV[3]), redis.call('STRLEN', KEYS[3])
if at > length or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then return 'gap' end
if at + #ARGV[4] > length then redis.call('APPEND', KEYS[3], string.sub(ARGV[4], length - at + 1)) end
return 'copied'
`;

/** KEYS: lease, files, file. ARGV: epoch, name, bytes. */
export const replaceScript = `${fenced}
redis.call('SET', KEYS[3], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], '1')
redis.call('HINCRBY', KEYS[2], '!version', 1)
return 'copied'
`;

/** KEYS: lease, files, staged. ARGV: epoch, name, where the bytes belong, bytes. */
export const stageScript = `${fenced}
local at = tonumber(ARGV[3])
if at == 0 then redis.call('SET', KEYS[3], ARGV[4])
else
  local length = redis.call('STRLEN', KEYS[3])
  if at > length then return 'gap' end
  if at + #ARGV[4] > length then redis.call('APPEND', KEYS[3], string.sub(ARGV[4], length - at + 1)) end
end
redis.call('PEXPIRE', KEYS[3], ${stagedMs})
return 'copied'
`;

/** KEYS: lease, files, file, staged. ARGV: epoch, name, bytes it has. */
export const replaceStagedScript = `${fenced}
if redis.call('EXISTS', KEYS[4]) == 0 or redis.call('STRLEN', KEYS[4]) ~= tonumber(ARGV[3]) then return 'gap' end
redis.call('RENAME', KEYS[4], KEYS[3])
redis.call('PERSIST', KEYS[3])
redis.call('HSET', KEYS[2], ARGV[2], '1')
redis.call('HINCRBY', KEYS[2], '!version', 1)
return 'copied'
`;

/** KEYS: lease, files, file. ARGV: epoch, name. */
export const removeScript = `${fenced}
redis.call('DEL', KEYS[3])
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('HINCRBY', KEYS[2], '!version', 1)
return 'copied'
`;
