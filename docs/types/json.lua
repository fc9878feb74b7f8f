---@meta _
-- JSON

---@class moonloop
local ml = {}

---`ml.json`: reads and writes strict JSON (RFC 8259).
---Integers and floats stay apart: `1` is an integer, `1.0`, `1e0` and `-0` are floats. Loaded when
---first used. See [decision 0034](../decisions/0034-json-for-scripts.md).
---@class moonloop.Json
ml.json = {}

---Stands for null, where nil would leave a gap.
---It is written as `null`, and read only with the option 'null' of `decode`. A copy that was sent
---through a port is another table.
---```lua
---print(ml.json.encode { "a", ml.json.null })   --> ["a",null]
---```
---@type table
ml.json.null = nil

---@class moonloop.JsonReadOptions
---@field null? any What stands for null; default nil: no field, and a gap in a list.
---@field max_depth? integer How deep lists and objects may be nested; default 200.
---@field max_size? moonloop.Bytes Longer texts are refused; default 256 MiB.

---Reads the one value of a JSON text.
---If an object has a name twice, the last one counts. An integer that does not fit in 64 bits
---becomes a float. Returns `nil, message, "EBADMSG"` for anything that is not JSON, with line and
---column. Raises an error that names the wrong option, or when the text is not a string.
---```lua
---local order = ml.json.decode '{"id": 7, "price": 7.0, "tags": []}'
---print(order.id, order.price, #order.tags)     --> 7 7.0 0
---print(ml.json.decode '{"id": 7,\n "price": seven}')
-----> nil json:2:11: a value expected EBADMSG
---```
---@param text string The whole text, in UTF-8.
---@param options? moonloop.JsonReadOptions What null becomes, and limits.
---@return any value The value; nil also for null.
---@return string? message
---@return string? code
function ml.json.decode(text, options) end

---@class moonloop.JsonWriteOptions
---@field pretty? boolean Each element on a line of its own.
---@field decimals? integer Round floats to this many decimals; a whole number then has none.
---@field is_lenient? boolean Write what has no JSON form as its text, instead of raising an error.
---@field max_depth? integer How deep tables may be nested; default 200.
---@field max_size? moonloop.Bytes Longer texts are refused, before they are put together; default 256 MiB, line breaks and indentation not counted.

---Writes a value as JSON, with sorted names.
---A table with a first element is a list, and so is an empty one that was not read from `{}` or
---made by `ml.json.object`. In any other table numbers are names too: `{ [7] = "a" }` is
---`{"7":"a"}`. NaN and the infinities become null. No metamethod is called. Raises an error for
---what has no JSON form (functions, cycles, lists with other keys, `7` and `"7"` as keys of one
---table, strings that are not UTF-8), which says where in the value it is; for a text that gets too
---long; and one that names the wrong option.
---```lua
---print(ml.json.encode { name = "ada", scores = { 1, 2.0 }, tags = {} })
-----> {"name":"ada","scores":[1,2.0],"tags":[]}
---print((select(2, pcall(ml.json.encode, { jobs = { print } })):gsub(" %(.*", "")))
-----> ml.json.encode: a function has no JSON form, at .jobs[1]
---```
---@param value any Nil, booleans, numbers, strings, and tables of these.
---@param options? moonloop.JsonWriteOptions How it looks, and limits.
---@return string text JSON.
function ml.json.encode(value, options) end

---Marks a table as an object, so that it is written as `{}` when it is empty.
---Sets its metatable. Raises an error when it is not given a table.
---```lua
---print(ml.json.encode { headers = ml.json.object(), body = {} })   --> {"body":[],"headers":{}}
---```
---@param fields? table The table; default: a new one.
---@return table fields The same table.
function ml.json.object(fields) end
