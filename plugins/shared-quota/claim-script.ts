/**
 * Script that Redis runs for one statement: the algorithm of memory-claim-store.ts, so that a claim is one atomic step.
 *
 * Keys of a group have one hash tag, so that they are in one slot of a cluster:
 * `{group}:who` — `!run`, `!born` (id of the server, start of its memory), and `member` → `epoch|seq`;
 * `{group}:roster` — `member` → `epoch|share|of|heardAt` of admitted members;
 * `{group}:evenly` — `SCOPE` → instant until which it is spent evenly;
 * `{group}:halt` — reason of the group's halt, empty after a resume; it never expires;
 * `{group}:m:SCOPE` — `member#epoch` → `share|lastWindow|isHungry|openOrders|exitsPerHour|floor|heardAt`, and
 * `~member#epoch` → `from|to|heardAt|floor`: the earliest and latest begin of window 0 for it;
 * `{group}:w:SCOPE:WINDOW` — `member#epoch` → `held|settled|used`, and `!f` → units used by clients outside the group.
 *
 * Invariants: whole numbers only; expiry only saves memory, nothing depends on it.
 */
import {
  evenlyMsMost,
  keptWindows,
  lastMs,
  learnMs,
  phaseSlackMs,
  presentMs,
  shareSlack,
  silentMs,
  wholeMs,
} from "./claim.ts";

/** Numbers of one item, in this order, after its scope. */
export const itemFields = [
  "window",
  "windowMs",
  "remainingMs",
  "capacity",
  "has",
  "settled",
  "used",
  "need",
  "want",
  "hungry",
  "exits",
  "leave",
  "floor",
  "openOrders",
  "exitsPerHour",
  "spreadMs",
] as const;
/** Numbers of one grant, in this order. */
export const grantFields = [
  "ordinary",
  "exits",
  "free",
  "foreign",
  "openOrders",
  "exitsPerHour",
  "members",
  "astrayMs",
] as const;

/**
 * KEYS: who, halt, roster, evenly, then for each item members and window `w`, `w-1`, `w-2`. ARGV: run id, member,
 * epoch, seq, share, of, number of scopes spent evenly, name and time of each, then the fields of each item. Returns `fenced`,
 * `outdated`, or a list: 0 and the roster where the group is full; else 1, the roster where the member is new, halt
 * reason, whether one is known, learning, the scopes spent evenly, and the fields of each grant. A roster is name, share, of, age, and
 * so on; scopes spent evenly are name, time, and so on.
 */
export const claimScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local who = KEYS[1]
local run, member, epoch, seq, share, of = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local id = member .. '#' .. ARGV[3]
if redis.call('HGET', who, '!run') ~= run then redis.call('HSET', who, '!run', run, '!born', now) end
redis.call('PEXPIRE', who, 86400000)
local life = redis.call('HGET', who, member)
if life then
  local epochThen, seqThen = string.match(life, '^(%d+)|(%d+)$')
  epochThen, seqThen = tonumber(epochThen), tonumber(seqThen)
  if epochThen > epoch then return 'fenced' end
  if epochThen == epoch and seq <= seqThen then return 'outdated' end
end
redis.call('HSET', who, member, ARGV[3] .. '|' .. ARGV[4])
local learning = now - tonumber(redis.call('HGET', who, '!born')) < ${learnMs}
local enrolled = {}
if not learning then
  local own = redis.call('HGET', KEYS[3], member)
  if not own or string.match(own, '^[^|]+') ~= ARGV[3] then
    local sum = share
    local all = redis.call('HGETALL', KEYS[3])
    for place = 1, #all, 2 do
      local part, whole, heardAt = string.match(all[place + 1], '^[^|]+|([^|]+)|([^|]+)|([^|]+)$')
      if now - tonumber(heardAt) > ${presentMs} then redis.call('HDEL', KEYS[3], all[place])
      else
        if all[place] ~= member then sum = sum + tonumber(part) end
        for _, value in ipairs({ all[place], part, whole, string.format('%.0f', now - tonumber(heardAt)) }) do enrolled[#enrolled + 1] = value end
      end
    end
    if sum > of + ${shareSlack} then return { 0, enrolled } end
    enrolled[#enrolled + 1] = '.'
  end
  redis.call('HSET', KEYS[3], member, table.concat({ ARGV[3], ARGV[5], ARGV[6], string.format('%.0f', now) }, '|'))
  redis.call('PEXPIRE', KEYS[3], 86400000)
end
local told = redis.call('GET', KEYS[2])
local function text(value) return string.format('%.0f', value) end

local evenly, stated = {}, tonumber(ARGV[7])
for place = 8, 6 + 2 * stated, 2 do
  local untilAt = now + math.min(tonumber(ARGV[place + 1]), ${evenlyMsMost})
  if untilAt > tonumber(redis.call('HGET', KEYS[4], ARGV[place]) or '0') then redis.call('HSET', KEYS[4], ARGV[place], text(untilAt)) end
end
if stated > 0 then redis.call('PEXPIRE', KEYS[4], ${evenlyMsMost}) end
local scopes = redis.call('HGETALL', KEYS[4])
for place = 1, #scopes, 2 do
  local ms = tonumber(scopes[place + 1]) - now
  if ms <= 0 then redis.call('HDEL', KEYS[4], scopes[place])
  else
    evenly[#evenly + 1] = scopes[place]
    evenly[#evenly + 1] = text(ms)
  end
end
local reply = { 1, enrolled, told or '', told and 1 or 0, learning and 1 or 0, evenly }

local function row(key, field)
  local text = redis.call('HGET', key, field)
  if not text then return nil end
  local held, settled = string.match(text, '^(%d+)|(%d+)|')
  return tonumber(held), tonumber(settled)
end

local function underWayOf(befores, field)
  local underWay = 0
  for _, key in ipairs(befores) do
    local held, settled = row(key, field)
    if held then underWay = underWay + held - settled end
  end
  return underWay
end

local floors, ways = {}, {}
local function keep(id, floor, underWay)
  local name = string.match(id, '^(.*)#')
  floors[name] = math.max(floors[name] or 0, floor)
  ways[name] = (ways[name] or 0) + underWay
end

local function astrayOf(members, all, id, to, spreadMs, windowMs, floor)
  if spreadMs > windowMs / 2 then return 0 end
  local from = to - spreadMs - ${phaseSlackMs}
  local agreeing, apart, isMember, isKnown = 1, {}, false, false
  for place = 1, #all, 2 do
    local name = all[place]
    if name == id then isMember = true end
    if string.sub(name, 1, 1) == '~' then
      local first, last, heardAt = string.match(all[place + 1], '^([^|]+)|([^|]+)|([^|]+)|')
      local agrees = tonumber(last) >= from and tonumber(first) <= to
      if name == '~' .. id then isKnown = agrees
      elseif now - tonumber(heardAt) > ${keptWindows} * windowMs then redis.call('HDEL', members, name)
      elseif agrees then agreeing = agreeing + 1
      else apart[#apart + 1] = to - tonumber(last) end
    end
  end
  local said = table.concat({ text(from), text(to), text(now), text(floor) }, '|')
  if #apart < agreeing or (#apart == agreeing and isMember and isKnown) then
    redis.call('HSET', members, '~' .. id, said)
    return 0
  end
  table.sort(apart)
  local astray = apart[math.floor(#apart / 2) + 1]
  if math.abs(astray - math.floor(astray / windowMs + 0.5) * windowMs) > spreadMs + ${phaseSlackMs} then
    redis.call('HSET', members, '~' .. id, said)
    redis.call('HDEL', members, id)
  end
  return astray
end

local items = (#KEYS - 4) / ${keptWindows + 2}
local fields = ${itemFields.length}
for index = 0, items - 1 do
  local members = KEYS[5 + index * ${keptWindows + 2}]
  local window = KEYS[6 + index * ${keptWindows + 2}]
  local befores = { ${Array.from({ length: keptWindows }, (_, back) => `KEYS[${7 + back} + index * ${keptWindows + 2}]`).join(", ")} }
  local at = 7 + 2 * stated + index * fields
  local number, windowMs, remainingMs, capacity = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local has, settled, used, need = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7]), tonumber(ARGV[at + 8])
  local want, hungryNow, exits, leave, floor = tonumber(ARGV[at + 9]), ARGV[at + 10], tonumber(ARGV[at + 11]), tonumber(ARGV[at + 12]), tonumber(ARGV[at + 13])
  local openOrders, exitsPerHour, spreadMs = tonumber(ARGV[at + 14]), tonumber(ARGV[at + 15]), tonumber(ARGV[at + 16])
  local all = redis.call('HGETALL', members)
  local astray = astrayOf(members, all, id, now + remainingMs - (number + 1) * windowMs, spreadMs, windowMs, floor)
  if astray ~= 0 then
    for _, value in ipairs({ 0, 0, 0, 0, 0, 0, 1, astray }) do reply[#reply + 1] = value end
  else

  local lastWindow = number
  local before = redis.call('HGET', members, id)
  if before then
    lastWindow = math.max(number, tonumber(string.match(before, '^[^|]+|([^|]+)|')))
  end
  redis.call('HSET', members, id, table.concat({ ARGV[5], text(lastWindow), hungryNow, ARGV[at + 14], ARGV[at + 15], ARGV[at + 13], text(now) }, '|'))
  redis.call('PEXPIRE', members, windowMs * 5)

  local foreign = tonumber(redis.call('HGET', window, '!f') or '0')
  local granted = row(window, id)
  if not granted then foreign = math.max(0, foreign - math.max(0, has - math.max(floor, underWayOf(befores, id))))
  elseif has > granted then foreign = math.max(0, foreign - (has - granted)) end

  local others, silent, openAll, exitsAll, count, shares = 0, 0, openOrders, exitsPerHour, 1, 0
  local spoke, hungry = {}, {}
  local rows = redis.call('HGETALL', window)
  for place = 1, #rows, 2 do
    if rows[place] ~= '!f' and rows[place] ~= id then
      local held = tonumber(string.match(rows[place + 1], '^(%d+)|'))
      others = others + held
      spoke[rows[place]] = held
    end
  end
  floors, ways = {}, {}
  local isMember = {}
  for place = 1, #all, 2 do isMember[all[place]] = true end
  for place = 1, #all, 2 do
    local name = all[place]
    local part, last, isHungry, open, rate, floorOf, heardAt = string.match(all[place + 1], '^([^|]+)|([^|]+)|([^|]+)|([^|]+)|([^|]+)|([^|]+)|([^|]+)$')
    if string.sub(name, 1, 1) == '~' then
      local heard, floorThen = string.match(all[place + 1], '^[^|]+|[^|]+|([^|]+)|([^|]+)$')
      local whose = string.sub(name, 2)
      if whose ~= id and not isMember[whose] and now - tonumber(heard) <= ${keptWindows} * windowMs then keep(whose, tonumber(floorThen), 0) end
    elseif name == id then last = nil
    elseif tonumber(last) < number - ${keptWindows} - 2 then redis.call('HDEL', members, name)
    elseif tonumber(last) >= number - ${keptWindows} then
      if not spoke[name] then keep(name, tonumber(floorOf), underWayOf(befores, name)) end
      openAll, exitsAll, count = openAll + tonumber(open), exitsAll + tonumber(rate), count + 1
      if isHungry == '1' and tonumber(last) >= number - 1 then
        shares = shares + tonumber(part)
        hungry[#hungry + 1] = { tonumber(part), spoke[name] or 0, now - tonumber(heardAt) <= ${silentMs} }
      end
    end
  end

  for name, floorOf in pairs(floors) do silent = silent + math.max(floorOf, ways[name]) end
  if not learning then foreign = math.max(foreign, used - has - others - silent) end
  local free = capacity - foreign - others - silent - has
  local forExits = math.max(0, math.min(exits, free))
  free = free - forExits
  local ordinary = 0
  if want > 0 and not learning then
    local pool = math.max(0, capacity - foreign - leave)
    local sum = shares + share
    local part = share / sum
    local kept = 0
    if remainingMs > ${lastMs} then
      for _, one in ipairs(hungry) do
        if one[3] then kept = kept + math.max(0, (pool * one[1]) / sum - one[2]) end
      end
    end
    local spare = free - leave
    local room = math.floor(math.min(spare, math.max(spare - kept, pool * part - has)))
    local slice = remainingMs > ${wholeMs} and math.floor((room * part) / 2) or room
    if room >= need then ordinary = math.min(want, room, math.max(need, slice)) end
  end
  redis.call('HSET', window, id, text(has + forExits + ordinary) .. '|' .. ARGV[at + 6] .. '|' .. ARGV[at + 7], '!f', text(foreign))
  redis.call('PEXPIRE', window, windowMs * 3 + 5000)
  for _, value in ipairs({ ordinary, forExits, free - ordinary, foreign, openAll, exitsAll, count, 0 }) do reply[#reply + 1] = value end
  end
end
return reply
`;

/**
 * KEYS: who, and members of every scope of the group. ARGV: member, `1` when the life before is over. Returns the new
 * epoch.
 */
export const registerScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life = redis.call('HGET', KEYS[1], ARGV[1])
local before = life and tonumber(string.match(life, '^(%d+)|')) or 0
local epoch = string.format('%.0f', math.max(now, before + 1))
redis.call('HSET', KEYS[1], ARGV[1], epoch .. '|0')
if ARGV[2] == '1' and before > 0 then
  for index = 2, #KEYS do redis.call('HDEL', KEYS[index], ARGV[1] .. '#' .. string.format('%.0f', before), '~' .. ARGV[1] .. '#' .. string.format('%.0f', before)) end
end
return epoch
`;

/**
 * KEYS: who, roster, and members of every scope of the group. ARGV: member, epoch. Its calls under way are still
 * counted.
 */
export const leaveScript = `
local life = redis.call('HGET', KEYS[1], ARGV[1])
if not life or string.match(life, '^(%d+)|') ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
local id = ARGV[1] .. '#' .. ARGV[2]
for index = 3, #KEYS do
  local row = redis.call('HGET', KEYS[index], id)
  redis.call('HDEL', KEYS[index], '~' .. id)
  if row then
    local share, last, heard = string.match(row, '^([^|]+)|([^|]+)|[^|]+|[^|]+|[^|]+|[^|]+|(.+)$')
    redis.call('HSET', KEYS[index], id, table.concat({ share, last, 0, 0, 0, 0, heard }, '|'))
  end
end
return 1
`;
