-- For wrk: asks for another number in each request. Arguments: the path with {n} for the number, the number before the first, and of 100
-- requests how many ask for the number 1.
local path, n, hits, count

function init(args)
  path, n, hits, count = args[1], tonumber(args[2]), tonumber(args[3]), 0
end

function request()
  count = count + 1
  -- Spread evenly: 37 and 100 have no common divisor.
  local isHit = (count * 37) % 100 < hits
  if not isHit then
    n = n + 1
  end
  return wrk.format(nil, (path:gsub("{n}", string.format("%d", isHit and 1 or n))))
end
