-- For wrk: asks for another number in each request. Arguments: the path with {n} for the number, and the number before the first.
local path, n

function init(args)
  path, n = args[1], tonumber(args[2])
end

function request()
  n = n + 1
  return wrk.format(nil, (path:gsub("{n}", string.format("%d", n))))
end
