-- A shell script: what it asks, answers and leaves behind.
local script = [[
#!/bin/sh
printf 'Name? '
read name
echo "Hello, $name"
echo "$name" > greeted
trap 'echo stopped; exit 7' TERM
echo waiting
while :; do sleep 0.01; done
]]

it("greets, and ends when it is asked to", function(_, _, t)
  local path = t:file("greet.sh", script)
  local p = t:spawn { "sh", path, cwd = t:tmpdir(), stdin = "pipe" }
  p:expect "Name%? "
  p.stdin:write "Ada\n"
  assert.equal("Ada", p:expect "Hello, (%w+)")
  p:expect "waiting"
  assert.equal(7, p:stop().code)
  assert.equal("Ada\n", io.open(t:tmpdir() .. "/greeted"):read "a")
  t:golden("greeting.txt", p.stdout:all())
end)
